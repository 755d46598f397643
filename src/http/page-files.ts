/**
 * The files of a web page, served from memory from the first request for each on.
 *
 * The routes are made from a list of files: no name is ever taken from a request. They hold no
 * secret.
 * @module
 */

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { ownFile } from '../lib/program-files.ts'
import { gzipSync } from 'node:zlib'
import { route, type Call, type Handler, type Route } from './call.ts'
import { empty, type Reply } from './reply.ts'

/** By ending. */
const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
  ['.webmanifest', 'application/manifest+json'],
])

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
  ...['Vary', 'Accept-Encoding'],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Cross-Origin-Opener-Policy', 'same-origin'],
]

/** Clients that take gzip, and do not name it only to say that they do not. */
const TAKES_GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i

/** The last segment of a target, and the slashes behind it. */
const TRAILING = /^[^?]*?([^/?]+)(\/+)(?:\?|$)/

/** Where the files of a page are, and where they are served. */
export interface PageFiles {
  /** The file `${name}.html` is the page itself, which stands at {@link at}. */
  readonly name: string
  /** The names of the others. */
  readonly files: readonly string[]
  /** Where they are; without it, they are those that the build has made. */
  readonly folder?: string | undefined
  readonly at: `/${string}`
  /** Ends in a slash; the other files stand below it. */
  readonly below: `/${string}`
  /** Directives besides those that all pages have. */
  readonly policy: readonly string[]
  /** Throws when a request may not have them. */
  readonly check?: (call: Call<undefined>) => void
}

/** Makes a route for each file. A daemon whose files are missing runs without the page. */
export function pageRoutes(page: PageFiles): readonly Route<undefined>[] {
  const { name, files, at, below } = page
  return [
    route('GET', at, withoutSlash(serve(`${name}.html`, page))),
    ...files.map((file) => route('GET', `${below}${file}`, serve(file, page))),
  ]
}

/**
 * Leads to a page from its path with slashes at the end, where its relative links lead nowhere.
 * Browsers take the fragment along.
 */
export function withoutSlash<Params>(
  handler: Handler<undefined, Params>,
): Handler<undefined, Params> {
  return (call) => {
    const [, name, slashes] = TRAILING.exec(call.request.url ?? '') ?? []
    if (slashes === undefined || call.path === '/') return handler(call)
    // Relative, as a proxy may have put us below a path.
    return empty(308, ['Location', '../'.repeat(slashes.length) + name])
  }
}

function serve(file: string, page: PageFiles): Handler<undefined> {
  let loading: Promise<Loaded> | undefined
  return async (call) => {
    page.check?.(call)
    loading ??= load(file, page)
    try {
      const { plain, packed } = await loading
      return TAKES_GZIP.test(call.request.headers['accept-encoding'] ?? '') ? packed : plain
    } catch (error) {
      // The next request may find it.
      loading = undefined
      throw error
    }
  }
}

/** A file as it is, and as it travels to most browsers. */
interface Loaded {
  readonly plain: Reply
  readonly packed: Reply
}

async function load(file: string, { name, folder, policy }: PageFiles): Promise<Loaded> {
  const body = await read(file, name, folder)
  const contentType = CONTENT_TYPES.get(extname(file)) ?? 'application/octet-stream'
  const digest = createHash('sha256').update(body).digest('base64url').slice(0, 22)
  const headers = [
    ...['Content-Type', contentType],
    ...['Content-Security-Policy', [...POLICY, ...policy].join('; ')],
    ...HEADERS,
  ]
  const plain = { status: 200, headers, body, etag: `"${digest}"` }
  const short = gzipSync(body, { level: 9 })
  // Pictures are packed already.
  if (short.length >= body.length) return { plain, packed: plain }
  const packedHeaders = [...headers, 'Content-Encoding', 'gzip']
  return {
    plain,
    packed: { status: 200, headers: packedHeaders, body: short, etag: `"${digest}-gz"` },
  }
}

async function read(file: string, page: string, folder: string | undefined): Promise<Uint8Array> {
  if (folder !== undefined) return readFile(join(folder, file))
  // It makes pages of their sources; the build has made them before, and leaves it out.
  const maker = ownFile('./../web/make-page.js', import.meta.url)
  if (!existsSync(maker)) return readFile(ownFile(`./${page}/${file}`, import.meta.url))
  const { makePage }: Maker = await import(maker.href)
  const made = (await makePage(page)).get(file)
  if (made === undefined) throw new Error(`The page has no ${file}`)
  return made
}

interface Maker {
  makePage(name: string): Promise<ReadonlyMap<string, Uint8Array>>
}
