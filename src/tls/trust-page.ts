/**
 * The page `/phone/trust`: how a phone comes to trust the authority of this gateway. Over plain
 * HTTP anybody on the way could change it, so it says what to compare.
 * @module
 */

import { createHash, X509Certificate } from 'node:crypto'
import type { FindTrustFile, TrustFile } from '../ports/trust-file.ts'

/** The authority that phones are to trust, and where that leads. */
export interface Trust {
  /** Its certificate, as PEM. */
  readonly cert: string
  /** SHA-256 of that, in pairs. */
  readonly fingerprint: string
  /** Base URLs with HTTPS, the likeliest first: only the page asks for them. */
  urls(): readonly string[]
}

/** An address, or a name that means only what the network around us says. */
const NEAR_HOST = /^\[|^[^.]*$|\.(?:\d+|local|lan|home|internal|home\.arpa)(?::|$)/i

/**
 * Makes what finds the page and its parts. They tell whose computer this is, and so nothing to a
 * name that a site can have pointed at us (DNS rebinding).
 *
 * @param publicUrl Base URL under which browsers may know us, whatever its name.
 */
export function trustFiles(trust: Trust, publicUrl: string | undefined): FindTrustFile {
  const publicHost = publicUrl === undefined ? undefined : new URL(publicUrl).host
  // Anybody may ask: what it takes to read a certificate is spent once.
  const { raw } = new X509Certificate(trust.cert)
  const files = new Map([
    ['clipgate.crt', file('application/x-x509-ca-cert', raw)],
    ['clipgate.mobileconfig', file('application/x-apple-aspen-config', profileOf(raw))],
    [signOf(raw), file('image/svg+xml', TICK, ['Access-Control-Allow-Origin', '*'])],
  ])
  return (path, { isSecure, host = '' }) => {
    if (!NEAR_HOST.test(host) && host.toLowerCase() !== publicHost) {
      return path === '' ? page(ELSEWHERE) : undefined
    }
    if (path === '') return page(describe(trust, signOf(raw), isSecure))
    return path === 'works' && isSecure ? page(WORKS) : files.get(path)
  }
}

/**
 * The name of the picture that appears where the certificate is trusted. Whoever cannot read the
 * page cannot guess it: else any site could find out with it who has a clipgate.
 */
function signOf(der: Uint8Array): string {
  return `${createHash('sha256').update('sign').update(der).digest('hex').slice(0, 32)}.svg`
}

const TICK = `<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24">
<circle cx="12" cy="12" r="12" fill="#17693f"/><path d="M6.5 12.5l4 4 7-8" fill="none" stroke="#fff" stroke-width="2.5"/></svg>
`

const STYLE = `
:root { color-scheme: light dark; font: 100%/1.5 system-ui, sans-serif; }
body { max-width: 38rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.375rem; } h2 { margin-top: 2rem; font-size: 1.125rem; }
ol { padding-left: 1.5rem; } ul { padding: 0; list-style: none; }
li { margin: 0.5rem 0; } img { vertical-align: middle; }
section + section { margin-top: 3rem; border-top: 1px solid; }
`

const HEAD = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>clipgate: HTTPS</title>
<style>${STYLE}</style>
`

const POLICY: readonly string[] = [
  ...["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"],
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src https:',
]

function page(html: string): TrustFile {
  return file('text/html; charset=utf-8', HEAD + html)
}

function file(
  mediaType: string,
  body: string | Uint8Array,
  more: readonly string[] = [],
): TrustFile {
  const policy = ['Content-Security-Policy', POLICY.join('; ')]
  const headers = [...policy, 'Referrer-Policy', 'no-referrer', ...more]
  return { mediaType, headers, body: Buffer.from(body) }
}

const WORKS = `<h1>It works 可以使用</h1>
<p>If no warning came before this page, this phone trusts your clipgate. 如果打开此页面时没有警告，手机已信任您的 clipgate。</p>
<p><a href="../../phone">Open the page for phones 打开手机页面</a></p>
`

const ELSEWHERE = `<h1>clipgate</h1>
<p>Open this page by an IP address of your computer, as the panel shows it: http://192.168.…:42720/phone/trust</p>
<p lang="zh-CN">请用电脑的 IP 地址打开此页面，面板中会显示该地址。</p>
`

/** The words of the page, in HTML. */
const ENGLISH = {
  lang: 'en',
  title: 'HTTPS on this phone',
  why: 'With HTTPS the page for phones can paste in one tap, copy pictures, be installed and stand in the share sheet. For that this phone has to trust a certificate that your computer has made.',
  cost: '<strong>What you give:</strong> whoever has the key of it, which stays on your computer, could pose as devices of local networks to this phone: as a router or a printer. For addresses on the internet, such as that of your bank, it is not valid.',
  compare:
    '<strong>This page came without encryption.</strong> Compare this fingerprint (SHA-256) with the one that the panel or <code>clipgate status</code> shows on your computer. If they differ, somebody changed this page: stop here.',
  iphone: [
    '<a href="trust/clipgate.mobileconfig">Get the profile</a>, in Safari.',
    'Settings, Profile Downloaded: Install.',
    'Settings, General, About, Certificate Trust Settings: switch “clipgate” on.',
  ],
  android: [
    '<a href="trust/clipgate.crt">Get the certificate</a>.',
    'Settings, search for “CA certificate”: Install anyway, and choose the file.',
  ],
  test: 'Test',
  tick: 'A tick in front of an address says that this browser trusts your computer there. <a href="trust">Look again</a>',
  noTick: 'No tick yet:',
  then: 'Then',
  scan: 'On <a href="../phone">the page for phones</a> choose “Use HTTPS”, and go on at an address with a tick. Or scan a new code: choose that address in “Add a device” of the panel, or run <code>clipgate pair --https</code>.',
  back: 'Without a tick nothing is lost: the page works without HTTPS as before.',
  remove: 'To take the trust away again',
  removing: [
    'iPhone, iPad: Settings, General, VPN &amp; Device Management, the profile “clipgate”, Remove.',
    'Android: Settings, search for “User credentials” or “Trusted credentials” (tab “User”), the entry “clipgate”, Remove.',
  ],
}

const CHINESE: typeof ENGLISH = {
  lang: 'zh-CN',
  title: '在此手机上使用 HTTPS',
  why: '有了 HTTPS，手机页面可以一键粘贴、复制图片、安装到主屏幕并出现在分享菜单中。为此，手机需要信任您的电脑生成的证书。',
  cost: '<strong>您授予的权限：</strong>拥有其密钥（保存在您的电脑上）的人，可以对此手机冒充本地网络中的设备，例如路由器或打印机。它对互联网上的地址（例如您的银行）无效。',
  compare:
    '<strong>此页面未经加密传输。</strong>请将此指纹（SHA-256）与电脑面板或 <code>clipgate status</code> 显示的指纹比较。如果不同，说明有人篡改了此页面，请停止操作。',
  iphone: [
    '用 Safari <a href="trust/clipgate.mobileconfig">下载描述文件</a>。',
    '设置，已下载描述文件：安装。',
    '设置，通用，关于本机，证书信任设置：打开“clipgate”。',
  ],
  android: [
    '<a href="trust/clipgate.crt">下载证书</a>。',
    '在设置中搜索“CA 证书”：仍然安装，并选择该文件。',
  ],
  test: '测试',
  tick: '地址前出现对勾，表示此浏览器在该地址信任您的电脑。<a href="trust">再看一次</a>',
  noTick: '尚无对勾：',
  then: '然后',
  scan: '在<a href="../phone">手机页面</a>上选择“使用 HTTPS”，并在有对勾的地址继续。也可扫描新的二维码：在面板的“添加设备”中选择该地址，或运行 <code>clipgate pair --https</code>。',
  back: '没有对勾也无妨：不使用 HTTPS 的页面照常可用。',
  remove: '要取消信任',
  removing: [
    'iPhone、iPad：设置，通用，VPN 与设备管理，描述文件“clipgate”，移除。',
    'Android：在设置中搜索“用户凭据”或“信任的凭据”（“用户”标签页），条目“clipgate”，移除。',
  ],
}

function describe(trust: Trust, sign: string, isSecure: boolean): string {
  const there = '<p><a href="#zh-CN" lang="zh-CN">中文</a></p>\n'
  const shown = { ...trust, urls: trust.urls(), sign: `phone/trust/${sign}` }
  return there + [ENGLISH, CHINESE].map((words) => tell(words, shown, isSecure)).join('')
}

function tell(
  words: typeof ENGLISH,
  {
    fingerprint,
    urls,
    sign,
  }: Pick<Trust, 'fingerprint'> & { urls: readonly string[]; sign: string },
  isSecure: boolean,
): string {
  // The picture comes only if the browser trusts the address; words of other pages cannot tell.
  const tests = urls.map(
    (url) =>
      `<img crossorigin src="${url}/${sign}" alt="${words.noTick}"> <a href="${url}/phone/trust/works">${url}</a>`,
  )
  return `<section id="${words.lang}" lang="${words.lang}">
<h1>${words.title}</h1>
<p>${words.why}</p>
<p>${words.cost}</p>
${isSecure ? '' : `<p>${words.compare}</p>\n`}<p><code>${fingerprint.replaceAll(':', ':<wbr>')}</code></p>
<h2>iPhone, iPad</h2>
${list('ol', words.iphone)}
<h2>Android</h2>
${list('ol', words.android)}
<h2>${words.test}</h2>
<p>${words.tick}</p>
${list('ul', tests)}
<h2>${words.then}</h2>
<p>${words.scan}</p>
${isSecure ? '' : `<p>${words.back}</p>\n`}<h2>${words.remove}</h2>
${list('ul', words.removing)}
</section>
`
}

function list(tag: 'ol' | 'ul', lines: readonly string[]): string {
  return `<${tag}>\n${lines.map((line) => `<li>${line}</li>\n`).join('')}</${tag}>`
}

/** The profile that an iPhone installs; the same one for the same certificate. */
function profileOf(der: Uint8Array): string {
  const digest = createHash('sha256').update(der).digest('hex')
  const uuid = (at: number): string =>
    digest
      .slice(at, at + 32)
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
      .toUpperCase()
  const payload = (kind: string, id: string, more: string): string => `<dict>
<key>PayloadType</key><string>${kind}</string>
<key>PayloadVersion</key><integer>1</integer>
<key>PayloadIdentifier</key><string>clipgate.${id}</string>
<key>PayloadUUID</key><string>${id}</string>
<key>PayloadDisplayName</key><string>clipgate</string>
${more}
</dict>`
  const root = payload(
    'com.apple.security.root',
    uuid(0),
    `<key>PayloadContent</key><data>${Buffer.from(der).toString('base64')}</data>`,
  )
  const content = `<key>PayloadContent</key><array>${root}</array>`
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">${payload('Configuration', uuid(32), content)}</plist>
`
}
