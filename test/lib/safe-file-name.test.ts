import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isDataName } from '../../src/core/data-name.ts'
import { numberedName, safeFileName } from '../../src/lib/safe-file-name.ts'
import fc from '../support/property.ts'

const platforms = fc.constantFrom('linux', 'darwin', 'win32' as const)
const names = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.stringMatching(/^[.\s_a-z"<>:|?*-]{0,300}$/),
  fc.tuple(fc.constantFrom('con', 'COM1', 'nul'), fc.string()).map(([a, b]) => `${a}.${b}`),
)

describe('safeFileName()', () => {
  it('leaves ordinary names as they are', () => {
    for (const name of ['a.txt', 'Bild (1).jpeg', '写真 👋.png', 'none', '100%+&']) {
      assert.equal(safeFileName(name, 'linux'), name)
      assert.equal(safeFileName(name, 'win32'), name)
    }
  })

  it('hides nothing, and leaves no dot or blank at the end', () => {
    assert.equal(safeFileName('.bashrc', 'linux'), '_.bashrc')
    assert.equal(safeFileName('.png', 'linux'), '_.png')
    assert.equal(safeFileName(' a. . ', 'linux'), 'a')
    assert.equal(safeFileName('...', 'linux'), 'file')
    assert.equal(safeFileName('', 'linux'), 'file')
  })

  it('takes the marks out that make a name look like another one', () => {
    assert.equal(safeFileName('invoice\u202efdp.exe', 'linux'), 'invoice_fdp.exe')
  })

  it('replaces separators and controls, although no data name has them', () => {
    assert.equal(safeFileName('../../etc\\passwd\n', 'linux'), '_.._.._etc_passwd_')
  })

  it('knows what Windows keeps for itself, there only', () => {
    const name = 'a<b>c:d"e|f?g*.txt'
    assert.equal(safeFileName(name, 'win32'), 'a_b_c_d_e_f_g_.txt')
    assert.equal(safeFileName(name, 'linux'), name)
    for (const device of ['con', 'NUL.txt', 'com1.tar.gz', 'LPT¹', 'CONIN$', 'aux .c']) {
      assert.equal(safeFileName(device, 'win32'), `_${device}`)
      assert.equal(safeFileName(device, 'linux'), device)
    }
    assert.equal(safeFileName('console.txt', 'win32'), 'console.txt')
  })

  it('keeps the extension of a name that is too long, and whole characters', () => {
    assert.equal(safeFileName(`${'é'.repeat(200)}.jpeg`, 'linux'), `${'é'.repeat(125)}.jpeg`)
    assert.equal(safeFileName('x'.repeat(300), 'linux'), 'x'.repeat(255))
    assert.equal(safeFileName(`a.${'x'.repeat(300)}`, 'linux'), `a.${'x'.repeat(253)}`)
  })

  it('always gives a name that is safe, and the same one for it again', () => {
    fc.assert(
      fc.property(names, platforms, fc.integer({ min: 1, max: 9999 }), (name, platform, number) => {
        const safe = safeFileName(name, platform)
        assert.equal(safeFileName(safe, platform), safe)
        for (const result of [safe, numberedName(safe, number)]) {
          assert.ok(isDataName(result), JSON.stringify(result))
          assert.doesNotMatch(result, /^[.\s]|[.\s]$|[\u202a-\u202e]/)
          if (platform === 'win32') assert.doesNotMatch(result, /[<>:"|?*]|^(?:con|nul|com1)\./i)
        }
      }),
    )
  })
})

describe('numberedName()', () => {
  it('puts the number before the extension', () => {
    assert.equal(numberedName('photo.jpg', 1), 'photo.jpg')
    assert.equal(numberedName('photo.jpg', 2), 'photo (2).jpg')
    assert.equal(numberedName('photo', 12), 'photo (12)')
    assert.equal(numberedName('a.tar.gz', 2), 'a.tar (2).gz')
    assert.equal(numberedName(`${'x'.repeat(251)}.txt`, 2), `${'x'.repeat(247)} (2).txt`)
  })

  it('gives other names for other numbers', () => {
    fc.assert(
      fc.property(names, fc.integer({ min: 1, max: 9998 }), (name, number) => {
        const safe = safeFileName(name, 'linux')
        assert.notEqual(numberedName(safe, number), numberedName(safe, number + 1))
      }),
    )
  })
})
