/**
 * The page for people who type the bare address into a browser. It leads on to the page for phones,
 * which has the same words in the language of the browser; programs are told the problem.
 * @module
 */

import type { IncomingHttpHeaders } from 'node:http'
import type { TrustFile } from '../ports/trust-file.ts'

const WORDS = `<!doctype html>
<html lang="en">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="0;url=phone">
<title>clipgate</title>
<h1>clipgate</h1>
<p><a href="phone">Open the page for phones</a></p>
<p>To connect a phone, open clipgate on your computer, choose “Add a device” (or run “clipgate pair”), and scan the code.</p>
<p lang="zh-CN"><a href="phone">打开手机页面</a></p>
<p lang="zh-CN">要连接手机，请在电脑上打开 clipgate，选择“添加设备”（或运行“clipgate pair”），然后扫描二维码。</p>
`

const PAGE: TrustFile = {
  mediaType: 'text/html; charset=utf-8',
  headers: [
    ...['Content-Security-Policy', "default-src 'none'"],
    // No browser knows the scheme, so none asks for a password.
    ...['WWW-Authenticate', 'Scan realm="clipgate"'],
  ],
  body: Buffer.from(WORDS),
}

/** The page, if it is a person without credentials who asks. */
export function welcome(
  method: string,
  { accept = '', authorization }: IncomingHttpHeaders,
): TrustFile | undefined {
  const isPerson = /\btext\/html\b/i.test(accept) && authorization === undefined
  return isPerson && (method === 'GET' || method === 'HEAD') ? PAGE : undefined
}
