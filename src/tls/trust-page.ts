/**
 * The page `/phone/trust`: how a phone comes to trust the authority of this gateway. Over plain
 * HTTP anybody on the way could change it, so it says what to compare.
 * @module
 */

import { createHash, X509Certificate } from 'node:crypto'
import type { TrustFile } from '../ports/trust-file.ts'

/** The authority that phones are to trust, and where that leads. */
export interface Trust {
  /** Its certificate, as PEM. */
  readonly cert: string
  /** SHA-256 of that, in pairs. */
  readonly fingerprint: string
  /** Base URLs with HTTPS, the likeliest first. */
  readonly urls: readonly string[]
}

/** Finds what stands at a path below `/phone/trust`, which is `''` for the page itself. */
export function trustFile(path: string, trust: Trust): TrustFile | undefined {
  const { cert } = trust
  const page = (html: string): TrustFile => ({
    mediaType: 'text/html; charset=utf-8',
    body: Buffer.from(html),
  })
  switch (path) {
    case '':
      return page(describe(trust))
    case 'works':
      return page(WORKS)
    case 'clipgate.crt':
      return { mediaType: 'application/x-x509-ca-cert', body: derOf(cert) }
    case 'clipgate.mobileconfig':
      return {
        mediaType: 'application/x-apple-aspen-config',
        body: Buffer.from(profileOf(derOf(cert))),
      }
    default:
      return undefined
  }
}

function derOf(cert: string): Uint8Array {
  return new X509Certificate(cert).raw
}

const HEAD = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>clipgate: HTTPS</title>
`

const WORKS = `${HEAD}<h1>It works 可以使用</h1>
<p>If no warning came before this page, this phone trusts your clipgate. 如果打开此页面时没有警告，手机已信任您的 clipgate。</p>
<p><a href="../../phone">Open the page for phones 打开手机页面</a></p>
`

function describe({ fingerprint, urls: [url] }: Trust): string {
  const test =
    url === undefined ? '' : `<p><a href="${url}/phone/trust/works">Test it 测试</a></p>\n`
  return `${HEAD}<h1>HTTPS on this phone</h1>
<p>With HTTPS the page for phones can paste in one tap, copy pictures, be installed and stand in the share sheet. For that this phone has to trust a certificate that your computer has made.</p>
<p><strong>What you give:</strong> whoever has the key of it, which stays on your computer, could pose as devices of local networks to this phone: as a router or a printer. For addresses on the internet, such as that of your bank, it is not valid.</p>
<p><strong>This page came without encryption.</strong> Compare this fingerprint (SHA-256) with the one that <code>clipgate status</code> shows on your computer. If they differ, somebody changed this page: stop here.</p>
<p><code>${fingerprint}</code></p>
<h2>iPhone, iPad</h2>
<ol><li><a href="trust/clipgate.mobileconfig">Get the profile</a>, in Safari.</li>
<li>Settings, Profile Downloaded: Install.</li>
<li>Settings, General, About, Certificate Trust Settings: switch “clipgate” on.</li></ol>
<h2>Android</h2>
<ol><li><a href="trust/clipgate.crt">Get the certificate</a>.</li>
<li>Settings, search for “CA certificate”: Install anyway, and choose the file.</li></ol>
<h2>Then</h2>
${test}<p>If a warning comes, the phone does not trust it yet. Nothing is lost: <a href="../phone">the page without HTTPS</a> works as before. To take the trust away, remove the profile (iPhone: General, VPN &amp; Device Management), or the entry in “User credentials” (Android).</p>
<section lang="zh-CN">
<h1>在此手机上使用 HTTPS</h1>
<p>有了 HTTPS，手机页面可以一键粘贴、复制图片、安装到主屏幕并出现在分享菜单中。为此，手机需要信任您的电脑生成的证书。</p>
<p><strong>您授予的权限：</strong>拥有其密钥（保存在您的电脑上）的人，可以对此手机冒充本地网络中的设备，例如路由器或打印机。它对互联网上的地址（例如您的银行）无效。</p>
<p><strong>此页面未经加密传输。</strong>请将上面的指纹（SHA-256）与电脑上 <code>clipgate status</code> 显示的指纹比较。如果不同，说明有人篡改了此页面，请停止操作。</p>
<h2>iPhone、iPad</h2>
<ol><li>用 Safari <a href="trust/clipgate.mobileconfig">下载描述文件</a>。</li>
<li>设置，已下载描述文件：安装。</li>
<li>设置，通用，关于本机，证书信任设置：打开“clipgate”。</li></ol>
<h2>Android</h2>
<ol><li><a href="trust/clipgate.crt">下载证书</a>。</li>
<li>在设置中搜索“CA 证书”：仍然安装，并选择该文件。</li></ol>
<h2>然后</h2>
${test}<p>如果出现警告，说明手机尚未信任它。<a href="../phone">不使用 HTTPS 的页面</a>照常可用。要取消信任，请移除描述文件（iPhone：通用，VPN 与设备管理），或“用户凭据”中的条目（Android）。</p>
</section>
`
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
