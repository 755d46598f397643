/**
 * The files of the panel's page, for everybody who asks by our own name.
 * @module
 */

import { fileURLToPath } from 'node:url'
import type { Route } from '../http/call.ts'
import { pageRoutes } from '../http/page-files.ts'
import { checkOwnHost } from './authorize.ts'

/** Beside this file in the sources; the build puts the folder beside what it makes of it. */
const FOLDER: string = fileURLToPath(new URL('./panel/', import.meta.url))

const POLICY = ["require-trusted-types-for 'script'"]

/** Makes a route for each file; `panel.html` stands at `/`. */
export function createPanelFileRoutes(folder: string = FOLDER): readonly Route<undefined>[] {
  return pageRoutes({
    folder,
    page: 'panel.html',
    at: '/',
    below: '/',
    policy: POLICY,
    check: checkOwnHost,
  })
}
