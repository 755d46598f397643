import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createAuthority } from '../../src/tls/authority.ts'
import { trustFiles } from '../../src/tls/trust-page.ts'

const FINGERPRINT = 'AA:BB'

// Protocol: Asked by a name that a site could point here
it('says how to trust the computer to nobody who asks by the name of a site', () => {
  const { cert } = createAuthority('clipgate on desk', ['10.0.0.0/8'], Date.now())
  const urls = () => ['https://desk.local:42721']
  const find = trustFiles({ cert, fingerprint: FINGERPRINT, urls }, 'https://clip.example.org')
  const read = (path: string, host: string | undefined) =>
    find(path, { isSecure: false, host })?.body.toString()
  const picture = /phone\/trust\/(\w+\.svg)/.exec(read('', 'desk') ?? '')?.[1] ?? ''
  const parts = ['clipgate.crt', 'clipgate.mobileconfig', picture]

  const near = ['192.168.1.20', '[fe80::1]', 'localhost', 'desk', 'Desk.local', 'desk.lan']
  const known = ['desk.home.arpa', 'desk.internal', 'clip.example.org', 'CLIP.example.org']
  for (const host of [undefined, ...near, ...near.map((name) => `${name}:42720`), ...known]) {
    assert.match(read('', host) ?? '', /AA:<wbr>BB/, host)
    for (const part of parts) assert.ok(read(part, host), `${host} ${part}`)
  }

  const sites = ['evil.example', 'local.evil.example', 'evil.example.', 'desk.evil-local']
  const more = ['10.0.0.1.evil.example', 'other.clip.example.org', 'evilhome.arpa', '1.2x.net']
  for (const host of [...sites, ...more, ...sites.map((name) => `${name}:42720`)]) {
    const html = read('', host) ?? ''
    assert.match(html, /Open this page by an IP address/, host)
    for (const secret of ['BB', 'desk', '42721', picture]) {
      assert.ok(!html.includes(secret), `${host} is told ${secret}`)
    }
    for (const part of [...parts, 'works']) assert.equal(read(part, host), undefined, host)
  }
})
