/**
 * The files of the panel's page, for everybody who asks by our own name.
 * @module
 */

import type { Route } from '../http/call.ts'
import { pageRoutes } from '../http/page-files.ts'
import { checkOwnHost } from './authorize.ts'

const POLICY = ["require-trusted-types-for 'script'"]

/** Makes a route for each file; `panel.html` stands at `/`. */
export function createPanelFileRoutes(folder?: string): readonly Route<undefined>[] {
  return pageRoutes({
    name: 'panel',
    files: ['panel.js', 'panel.css', 'icon.svg'],
    folder,
    at: '/',
    below: '/',
    policy: POLICY,
    check: checkOwnHost,
  })
}
