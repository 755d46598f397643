/**
 * Requests that a proxy must not touch, with the answers of the gateway.
 * @module
 */

import type { ClientRequest } from './support/https-client.ts'
import { PUBLIC_URL } from './support/proxied-daemon.ts'

export interface Sample extends ClientRequest {
  readonly status: number
  /** Without it the device logs in. */
  readonly login?: 'none' | 'wrong'
}

/** Wants `NAME` to be the binary item, of 10,000 bytes. */
export const NAME = '你好 a+b%;=&\'"?#[].txt'

const FILE = `/file/${encodeURIComponent(NAME)}`

export const SAMPLES: readonly Sample[] = [
  { path: '/healthz', login: 'none', status: 204 },
  { path: '/healthz', login: 'none', method: 'HEAD', status: 204 },
  { path: '/healthz', login: 'none', method: 'DELETE', status: 405 },
  { path: '/Sync.json', login: 'none', status: 401 },
  { path: '/Sync.json', login: 'wrong', status: 401 },
  { path: '/nowhere', login: 'none', status: 401 },
  { path: '/nowhere', status: 404 },
  { path: '/', status: 200 },
  { path: '/Sync.json', status: 200 },
  { path: '/Sync.json', method: 'HEAD', status: 200 },
  { path: '/Sync.json', headers: { 'accept-encoding': 'gzip, br' }, status: 200 },
  { path: '/Sync.json', headers: { 'if-none-match': '*' }, status: 304 },

  // Paths, in spellings that occur and in ones that somebody might try.
  { path: '//SyncClipboard.json', status: 200 },
  { path: '/Sync.json/?a=%2F&b=//..', status: 200 },
  { path: '/file/', status: 200 },
  { path: '/file/../Sync.json', status: 404 },
  { path: '/./Sync.json', status: 404 },
  { path: '/file/%2e%2e', status: 400 },
  { path: '/file/a%2Fb', status: 400 },
  { path: '/file/a%5Cb', status: 400 },
  { path: FILE, status: 200 },
  { path: FILE, method: 'HEAD', status: 200 },
  { path: FILE, headers: { range: 'bytes=9000-9009' }, status: 206 },
  { path: FILE, headers: { range: 'bytes=-1' }, status: 206 },
  { path: FILE, headers: { range: 'bytes=10000-' }, status: 416 },

  { path: '/SyncClipboardHub', status: 426 },

  // Methods of WebDAV clients.
  { path: '/', method: 'PROPFIND', headers: { depth: '1' }, status: 207 },
  { path: '/file', method: 'PROPFIND', body: '<propfind xmlns="DAV:"/>', status: 207 },
  { path: '/file', method: 'MKCOL', status: 201 },
  { path: '/file', method: 'DELETE', status: 200 },
  { path: '/', method: 'OPTIONS', status: 204 },
  { path: '/Sync.json', method: 'PATCH', body: '{}', status: 405 },

  // Bodies.
  put('{"type":"Text","text":"hello"}', 200),
  put('{"type":"Text"', 400),
  put('{"type":"Image","dataName":"never.png","hasData":true}', 404),
  put('…', 415, { 'content-encoding': 'gzip' }),

  // Pages, seen from behind the proxy.
  put('{"type":"Text","text":"hello"}', 200, { origin: PUBLIC_URL }),
  put('{"type":"Text","text":"no"}', 403, { origin: 'https://evil.example' }),
  put('{"type":"Text","text":"no"}', 403, { origin: 'null' }),
  put('{"type":"Text","text":"no"}', 403, { 'sec-fetch-site': 'cross-site' }),
]

function put(body: string, status: number, headers: Readonly<Record<string, string>> = {}): Sample {
  return { path: '/Sync.json', method: 'PUT', body, status, headers }
}
