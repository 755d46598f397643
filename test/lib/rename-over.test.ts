import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FileHeldError, renameOver, type RenamingSystem } from '../../src/lib/rename-over.ts'
import { toDomainError } from '../../src/storage/disk-errors.ts'
import { toUnusable } from '../../src/storage/own-files.ts'

function failure(code: string): Error {
  return Object.assign(new Error(code), { code, syscall: 'rename' })
}

/** A system on which the first renames fail, and where time passes only by waiting. */
class FakeSystem implements RenamingSystem {
  readonly platform: NodeJS.Platform
  elapsedMs = 0
  calls = 0
  readonly #fail: (elapsedMs: number) => string | undefined

  constructor(platform: NodeJS.Platform, fail: (elapsedMs: number) => string | undefined) {
    this.platform = platform
    this.#fail = fail
  }

  readonly rename = async (): Promise<void> => {
    this.calls += 1
    const code = this.#fail(this.elapsedMs)
    if (code !== undefined) throw failure(code)
  }

  readonly wait = async (ms: number): Promise<void> => {
    this.elapsedMs += ms
  }
}

describe('renaming onto a file that another program has open', () => {
  for (const code of ['EPERM', 'EACCES', 'EBUSY']) {
    it(`is tried again on Windows after ${code}, until the program has closed it`, async () => {
      const system = new FakeSystem('win32', (ms) => (ms < 1999 ? code : undefined))
      await renameOver('a', 'b', system)
      assert.equal(system.elapsedMs, 2000)
    })

    it(`fails on Windows after two seconds of ${code}, and says why`, async () => {
      const system = new FakeSystem('win32', () => code)
      await assert.rejects(renameOver('a', 'b', system), FileHeldError)
      assert.equal(system.elapsedMs, 2000)
      assert.ok(system.calls <= 12)
    })

    it(`fails at once elsewhere, where ${code} is about rights`, async () => {
      const system = new FakeSystem('linux', () => code)
      await assert.rejects(renameOver('a', 'b', system), { code, message: code })
      assert.equal(system.elapsedMs, 0)
    })
  }

  it('fails at once for any other reason, also after it was open', async () => {
    const system = new FakeSystem('win32', (ms) => (ms === 0 ? 'EPERM' : 'ENOENT'))
    await assert.rejects(renameOver('a', 'b', system), { code: 'ENOENT' })
    assert.equal(system.calls, 2)
  })

  it('is no lack of room, and names the remedy', () => {
    const error = new FileHeldError(failure('EPERM'))
    assert.equal(toDomainError(error, 'Cannot keep the item'), error)
    assert.match(toUnusable('x', error).message, /^Cannot use x: another program has it open; /)
  })
})
