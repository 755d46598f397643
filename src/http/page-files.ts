/**
 * The files of a web page, served from memory from the first request for each on.
 *
 * The routes are made from the list of files in their folder: no name is ever taken from a request.
 * They hold no secret.
 * @module
 */

import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { route, type Call, type Handler, type Route } from './call.ts'
import type { Reply } from './reply.ts'

/** By ending; other files in the folder are not for browsers. */
const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.webmanifest', 'application/manifest+json'],
])

const FILE_NAME = /^[a-z0-9][a-z0-9-]*\.[a-z]+$/

/** Nothing of a page may come from elsewhere, lead elsewhere, or be framed. */
const POLICY: readonly string[] = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
]

const HEADERS: readonly string[] = [
  ...['Cache-Control', 'no-cache'],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Cross-Origin-Opener-Policy', 'same-origin'],
]

/** Where the files of a page are, and where they are served. */
export interface PageFiles {
  readonly folder: string
  /** The file of the page itself, which stands at {@link at}. */
  readonly page: string
  readonly at: `/${string}`
  /** Ends in a slash; the other files stand below it. */
  readonly below: `/${string}`
  /** Directives besides those that all pages have. */
  readonly policy: readonly string[]
  /** Throws when a request may not have them. */
  readonly check?: (call: Call<undefined>) => void
}

/** Makes a route for each file. */
export function pageRoutes(files: PageFiles): readonly Route<undefined>[] {
  const { folder, page, at, below } = files
  return listFiles(folder, page).map((path) => {
    const name = relative(folder, path).split(sep).join('/')
    return route('GET', name === page ? at : `${below}${name}`, serve(path, files))
  })
}

/** Lists the files. A daemon whose folder is missing runs without the page. */
function listFiles(folder: string, page: string): readonly string[] {
  if (!existsSync(folder)) return [join(folder, page)]
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && FILE_NAME.test(entry.name))
    .filter(({ name }) => CONTENT_TYPES.has(extname(name)))
    .map(({ parentPath, name }) => join(parentPath, name))
}

function serve(path: string, { check, policy }: PageFiles): Handler<undefined> {
  let loading: Promise<Reply> | undefined
  return async (call) => {
    check?.(call)
    loading ??= load(path, [...POLICY, ...policy])
    try {
      return await loading
    } catch (error) {
      // The next request may find it.
      loading = undefined
      throw error
    }
  }
}

async function load(path: string, policy: readonly string[]): Promise<Reply> {
  const body = await readFile(path)
  const contentType = CONTENT_TYPES.get(extname(path)) ?? 'application/octet-stream'
  const digest = createHash('sha256').update(body).digest('base64url').slice(0, 22)
  return {
    status: 200,
    headers: [
      ...['Content-Type', contentType],
      ...['Content-Security-Policy', policy.join('; ')],
      ...HEADERS,
    ],
    body,
    etag: `"${digest}"`,
  }
}
