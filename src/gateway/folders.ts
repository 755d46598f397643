/**
 * `PROPFIND` of `/` and `/file`: two folders, as clients in WebDAV mode look for them (RFC 4918).
 * No file is listed, or a client that tidies up would try to delete what is on the clipboard.
 * @module
 */

import type { Handler } from '../http/call.ts'
import { constantReply } from '../http/reply.ts'

/** The folders below each folder. */
const FOLDERS = { '/': ['/file/'], '/file': [] } as const

/**
 * Makes the handler of a folder.
 *
 * @param publicUrl Where clients reach the gateway, when it is not the address that they connect
 *   to: they compare paths with that of their own URL.
 */
export function listFolder(
  path: keyof typeof FOLDERS,
  publicUrl: string | undefined,
): Handler<unknown> {
  const prefix = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '')
  const own = `${prefix}${path === '/' ? path : `${path}/`}`
  const alone = replyOf([own])
  const withContent = replyOf([own, ...FOLDERS[path].map((child) => prefix + child)])
  return ({ request }) =>
    request.headers['depth']?.toString().trim() === '0' ? alone : withContent
}

function replyOf(paths: readonly string[]): ReturnType<typeof constantReply> {
  const body = `<?xml version="1.0" encoding="utf-8"?>
<multistatus xmlns="DAV:">${paths.map(describe).join('')}
</multistatus>
`
  const headers = [
    ...['Content-Type', 'application/xml; charset=utf-8'],
    ...['Content-Security-Policy', "sandbox; default-src 'none'"],
  ]
  return constantReply({ status: 207, headers, body })
}

function describe(path: string): string {
  const type = '<resourcetype><collection/></resourcetype>'
  return `
<response><href>${path.replaceAll('&', '&amp;')}</href><propstat><prop>${type}</prop>\
<status>HTTP/1.1 200 OK</status></propstat></response>`
}
