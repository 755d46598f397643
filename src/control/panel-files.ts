/**
 * The files of the panel's page, served from memory.
 *
 * The routes are made from the list of files in their folder: no name is ever taken from a request.
 * They hold no secret, and are for everybody who asks by our own name.
 * @module
 */

import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { route, type Handler, type Route } from '../http/call.ts'
import type { Reply } from '../http/reply.ts'
import { checkOwnHost } from './authorize.ts'

/** Beside this file in the sources; the build puts the folder beside what it makes of it. */
const FOLDER: string = fileURLToPath(new URL('./panel/', import.meta.url))

/** The page itself. */
const PAGE = 'panel.html'

/** By ending; other files in the folder are not for browsers. */
const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
])

const FILE_NAME = /^[a-z0-9][a-z0-9-]*\.[a-z]+$/

const POLICY: string = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const HEADERS: readonly string[] = [
  ...['Cache-Control', 'no-cache'],
  ...['Content-Security-Policy', POLICY],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Cross-Origin-Opener-Policy', 'same-origin'],
]

/** Makes a route for each file; `panel.html` stands at `/`. */
export function createPanelFileRoutes(folder: string = FOLDER): readonly Route<undefined>[] {
  return listFiles(folder).map((path) => {
    const name = relative(folder, path).split(sep).join('/')
    return route('GET', name === PAGE ? '/' : `/${name}`, serve(path))
  })
}

/** Lists the files. A daemon whose folder is missing runs without the page. */
function listFiles(folder: string): readonly string[] {
  if (!existsSync(folder)) return [join(folder, PAGE)]
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && FILE_NAME.test(entry.name))
    .filter(({ name }) => CONTENT_TYPES.has(extname(name)))
    .map(({ parentPath, name }) => join(parentPath, name))
}

function serve(path: string): Handler<undefined> {
  let loading: Promise<Reply> | undefined
  return async (call) => {
    checkOwnHost(call)
    loading ??= load(path)
    try {
      return await loading
    } catch (error) {
      // The next request may find it.
      loading = undefined
      throw error
    }
  }
}

async function load(path: string): Promise<Reply> {
  const body = await readFile(path)
  const contentType = CONTENT_TYPES.get(extname(path)) ?? 'application/octet-stream'
  const digest = createHash('sha256').update(body).digest('base64url').slice(0, 22)
  return {
    status: 200,
    headers: ['Content-Type', contentType, ...HEADERS],
    body,
    etag: `"${digest}"`,
  }
}
