import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { printPairing, showPairing } from '../../src/cli/pair.ts'
import type { Pairing } from '../../src/ports/admin.ts'
import { openTestShell } from '../support/test-shell.ts'

const PAIRING: Pairing = {
  id: `did_${'0'.repeat(32)}`,
  kind: 'phone',
  label: 'Evil \u001b[2J\u202e phone',
  username: 'mobile_01234567',
  password: 'p4ssw0rd-p4ssw0rd',
  url: 'http://192.168.1.20:42720',
  link: `clip://connect?v=1&svc=mobile-sync&p=${'abcd'.repeat(60)}`,
  warning: 'Nobody can reach this',
}

const WHITE_ON_WHITE = '\u001b[38;5;231;48;5;231m'

describe('showPairing()', () => {
  it('shows the QR code, and everything that can be typed instead', async () => {
    const { shell, outputs } = openTestShell({ columns: 80 })
    await showPairing(shell, PAIRING)
    const { stdout, stderr } = outputs()
    assert.ok(stdout.startsWith(WHITE_ON_WHITE))
    for (const text of [PAIRING.url, PAIRING.username, PAIRING.password, `\n${PAIRING.link}\n`]) {
      assert.equal(stdout.split(text).length, 2, text)
    }
    assert.match(stdout, /Evil \\u\{1b\}\[2J\\u\{202e\} phone/)
    assert.equal(stderr, 'Warning: Nobody can reach this\n')
  })

  it('shows no code that would not fit', async () => {
    const { shell, outputs } = openTestShell({ columns: 40 })
    await showPairing(shell, PAIRING)
    const { stdout } = outputs()
    assert.match(stdout, /^The QR code needs a window \d\d columns wide/)
    assert.ok(!stdout.includes('\u001b'))
    assert.ok(stdout.includes(PAIRING.link))
  })
})

describe('printPairing()', () => {
  it('prints one JSON line, to the letter', () => {
    const { shell, outputs } = openTestShell()
    const { id, kind, label, username, password, url, link } = PAIRING
    printPairing(shell, PAIRING)
    const { stdout } = outputs()
    assert.doesNotMatch(stdout.trimEnd(), /[\n\u001b\u202e]/)
    const parsed = { id, kind, label, username, password, url, link }
    assert.equal(JSON.stringify(JSON.parse(stdout)), JSON.stringify(parsed))
  })
})
