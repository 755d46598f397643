import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isDataName } from '../../src/core/item.ts'
import { numberedName, safeFileName } from '../../src/lib/safe-file-name.ts'
import fc, { forAll } from '../support/property.ts'

const platforms = fc.constantFrom('linux', 'darwin', 'win32' as const)
const names = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.stringMatching(/^[.\s_a-z"<>:|?*-]{0,300}$/),
  fc.tuple(fc.constantFrom('con', 'COM1', 'nul'), fc.string()).map(([a, b]) => `${a}.${b}`),
  fc.tuple(fc.string(), fc.constantFrom('lnk', 'URL', 'scf')).map(([a, b]) => `${a}.${b}`),
)

describe('safeFileName()', () => {
  const SAME = [
    'a.txt',
    'my desktop.ini',
    'desktop.ini.txt',
    'Bild (1).jpeg',
    '写真 👋.png',
    'none',
    '100%+&',
    'console.txt',
  ]
  const DEVICES = ['con', 'NUL.txt', 'com1.tar.gz', 'LPT¹', 'CONIN$', 'aux .c']
  const OBEYED = ['desktop.ini', 'Desktop.INI', 'autorun.inf', 'Thumbs.db', 'ehthumbs.db']
  const FETCHED = ['a.lnk', 'Site.URL', 'b.scf', 'c.library-ms', 'd.searchConnector-ms', 'e.theme']
  const RESERVED = 'a<b>c:d"e|f?g*.txt'
  const ROWS: readonly (readonly [what: string, name: string, safe: string, onWindows?: string])[] =
    [
      ...SAME.map((name) => ['ordinary names as they are', name, name] as const),
      ['no name that is hidden', '.bashrc', '_.bashrc'],
      ['no name that is an extension alone', '.png', '_.png'],
      ['no blank around a name, and no dot behind it', ' a. . ', 'a'],
      ['no name of dots', '...', 'file'],
      ['no empty name', '', 'file'],
      ['no mark that reverses what is read', 'invoice\u202efdp.exe', 'invoice_fdp.exe'],
      ['no separator and no control', '../../etc\\passwd\n', '_.._.._etc_passwd_'],
      ['what Windows reserves, elsewhere', RESERVED, RESERVED, 'a_b_c_d_e_f_g_.txt'],
      ...DEVICES.map((name) => ['devices of Windows, elsewhere', name, name, `_${name}`] as const),
      ...OBEYED.map((name) => ['what Windows obeys, elsewhere', name, name, `_${name}`] as const),
      ...FETCHED.map(
        (name) => ['what Windows looks up, elsewhere', name, name, `${name}_`] as const,
      ),
      [
        'room for the change',
        `${'x'.repeat(300)}.lnk`,
        `${'x'.repeat(251)}.lnk`,
        `${'x'.repeat(250)}.lnk_`,
      ],
      ['whole characters and the extension', `${'é'.repeat(200)}.jpeg`, `${'é'.repeat(125)}.jpeg`],
      ['255 bytes of a longer name', 'x'.repeat(300), 'x'.repeat(255)],
      ['no extension that is too long for one', `a.${'x'.repeat(300)}`, `a.${'x'.repeat(253)}`],
    ]
  for (const [what, name, safe, onWindows = safe] of ROWS) {
    it(`leaves ${what}: ${JSON.stringify(name.slice(0, 30))}`, () => {
      assert.equal(safeFileName(name, 'linux'), safe)
      assert.equal(safeFileName(name, 'win32'), onWindows)
    })
  }

  it('always gives a name that is safe, and the same one for it again', () =>
    forAll(names, platforms, fc.integer({ min: 1, max: 9999 }), (name, platform, number) => {
      const safe = safeFileName(name, platform)
      assert.equal(safeFileName(safe, platform), safe)
      for (const result of [safe, numberedName(safe, number)]) {
        assert.ok(isDataName(result), JSON.stringify(result))
        assert.doesNotMatch(result, /^[.\s]|[.\s]$|[\u202a-\u202e]/)
        if (platform === 'win32')
          assert.doesNotMatch(result, /[<>:"|?*]|^(?:con|nul|com1)\.|\.(?:lnk|url|scf)$/i)
      }
    }))
})

describe('numberedName()', () => {
  it('puts the number before the extension', () => {
    assert.equal(numberedName('photo.jpg', 1), 'photo.jpg')
    assert.equal(numberedName('photo.jpg', 2), 'photo (2).jpg')
    assert.equal(numberedName('photo', 12), 'photo (12)')
    assert.equal(numberedName('a.tar.gz', 2), 'a.tar (2).gz')
    assert.equal(numberedName(`${'x'.repeat(251)}.txt`, 2), `${'x'.repeat(247)} (2).txt`)
  })

  it('gives other names for other numbers', () =>
    forAll(names, fc.integer({ min: 1, max: 9998 }), (name, number) => {
      const safe = safeFileName(name, 'linux')
      assert.notEqual(numberedName(safe, number), numberedName(safe, number + 1))
    }))
})
