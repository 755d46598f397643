import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { notificationCommand } from '../../../src/desktop/notifications/notification-command.ts'
import fc, { forAll } from '../../support/property.ts'

const ESCAPED = new Map(Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }))

const ENTITIES = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }))

/** What `notify-send` makes of its body: `g_strcompress` of GLib. */
function compress(body: string): string {
  return body.replace(/\\([0-7]{1,3}|[^])/g, (_, code: string) =>
    /^[0-7]/.test(code)
      ? String.fromCharCode(Number.parseInt(code, 8) & 0xff)
      : (ESCAPED.get(code) ?? code),
  )
}

/** What a notification server reads from markup without elements. */
function withoutEntities(markup: string): string {
  return markup.replace(/&(\w+);/g, (_, name: string) => ENTITIES.get(name) ?? '?')
}

const TRICKS = ['\\', '<', '>', '&', '"', "'", '074', 'n', 'lt;', '-', '\u202e', '\0']

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom(...TRICKS)).map((parts) => parts.join('')),
)

const anyPlatform = fc.constantFrom<NodeJS.Platform>('linux', 'darwin', 'win32')

describe('the command of a notification', () => {
  it('is notify-send on Linux, with the texts behind its options', () => {
    const notification = { title: '-t', text: '--x' }
    const { program, args, environment } = notificationCommand('linux', notification)
    assert.equal(program, 'notify-send')
    assert.deepEqual(args, ['--app-name=clipgate', '--', '-t', '--x'])
    assert.deepEqual(environment, {})
  })

  it('hands any text to notify-send so that it is shown, and never obeyed', () =>
    forAll(anyText, (text) => {
      const { args } = notificationCommand('linux', { title: 'x', text })
      const body = compress(args.at(-1) ?? '')
      assert.doesNotMatch(body, /[<>"']/)
      const shown = text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '\ufffd')
      assert.equal(withoutEntities(body), shown)
    }))

  it('never puts text from outside into a script', () =>
    forAll(anyText, anyText, (title, text) => {
      const mac = notificationCommand('darwin', { title, text })
      const other = notificationCommand('darwin', { title: 'a', text: 'b' })
      assert.deepEqual(mac.args.slice(0, -2), other.args.slice(0, -2))
      const windows = notificationCommand('win32', { title, text })
      assert.deepEqual(windows.args, notificationCommand('win32', { title: '', text: '' }).args)
    }))

  it('has nothing in it that a program cannot be started with', () =>
    forAll(anyText, anyPlatform, (text, platform) => {
      const { args, environment } = notificationCommand(platform, { title: text, text })
      for (const word of [...args, ...Object.values(environment)]) {
        assert.ok(!word.includes('\0'), 'there is no NUL in it')
      }
    }))

  it('names the programs of macOS and Windows by their place', () => {
    const { program } = notificationCommand('darwin', { title: 'a', text: 'b' })
    assert.equal(program, '/usr/bin/osascript')
    const windows = notificationCommand('win32', { title: 'a', text: 'b' }, 'D:\\Windows')
    assert.match(windows.program, /^D:\\Windows\\System32\\/)
  })
})
