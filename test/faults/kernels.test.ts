import assert from 'node:assert/strict'
import * as crypto from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { contentIdOf, digestsOf } from '../../src/hashing/file-hasher.ts'
import type { DaemonProcess } from '../support/daemon-process.ts'
import { createPhone } from '../support/phone.ts'
import { files, startHeadless, startPaired } from './support/subject.ts'

type Kernel = 'argon2-kernel.wasm' | 'blake3-kernel.wasm'

/** A constant of BLAKE2b and of BLAKE3: with another one the module compiles, and is wrong. */
const FRACTION_OF_ROOT_2 = Buffer.from('67e6096a', 'hex')

/** What may happen to a file of the program; `path` is the kernel's. */
const DAMAGES: Readonly<Record<string, (path: string, bytes: Buffer) => Promise<void>>> = {
  'with a wrong bit': async (path, bytes) => {
    const at = bytes.indexOf(FRACTION_OF_ROOT_2)
    assert.notEqual(at, -1)
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    await writeFile(path, bytes)
  },
  'that is cut off': (path, bytes) => writeFile(path, bytes.subarray(0, bytes.length / 2)),
  'that is gone': (path) => rm(path),
}

/** The warnings in the log about one kernel. */
function warningsAbout(kernel: Kernel, daemon: DaemonProcess): readonly string[] {
  return daemon
    .stderr()
    .split('\n')
    .filter((line) => line.includes(`Cannot use ${kernel}`))
}

describe('a program whose kernel is damaged', () => {
  /** Damages the kernel of the program until the test ends. */
  async function damage(t: TestContext, kernel: Kernel, name: string): Promise<void> {
    const path = join(files, kernel)
    const intact = await readFile(path)
    t.after(() => writeFile(path, intact))
    await DAMAGES[name]?.(path, Buffer.from(intact))
  }

  for (const name of Object.keys(DAMAGES)) {
    it(`logs in a device with a hash of before, and says so: Argon2 ${name}`, async (t) => {
      if ('argon2Sync' in crypto) return t.skip('this Node has Argon2')
      const { daemon: earlier, device } = await startPaired(t, { devices: [] })
      await earlier.stop()
      assert.equal(earlier.stderr(), '')

      await damage(t, 'argon2-kernel.wasm', name)
      const { folder } = earlier
      const daemon = await startHeadless(t, { folder })
      assert.equal((await createPhone(device, daemon.ready.gateway).fetch('/')).status, 200)
      const guess = createPhone({ ...device, password: 'wrong' }, daemon.ready.gateway)
      assert.equal((await guess.fetch('/')).status, 401)
      assert.equal(warningsAbout('argon2-kernel.wasm', daemon).length, 1, daemon.stderr())
    })

    it(`hashes a long text where files are hashed, and says so: BLAKE3 ${name}`, async (t) => {
      await damage(t, 'blake3-kernel.wasm', name)
      const { daemon, phone } = await startPaired(t)
      await phone.pushText('short')
      assert.equal(warningsAbout('blake3-kernel.wasm', daemon).length, 0)
      const text = 'text '.repeat(400_000)
      await phone.pushText(text)
      const { contentId, hash } = await phone.document()
      const { blake3, sha256 } = await digestsOf(Buffer.from(text))
      assert.deepEqual([contentId, hash], [await contentIdOf('Text', blake3), sha256])
      assert.equal(warningsAbout('blake3-kernel.wasm', daemon).length, 1, daemon.stderr())
    })

    it(`hashes a file as before, and says so: BLAKE3 ${name}`, async (t) => {
      await damage(t, 'blake3-kernel.wasm', name)
      const { daemon, phone } = await startPaired(t)
      const bytes = crypto.randomBytes(3_000_000)
      await phone.pushFile('File', 'a.bin', bytes)
      const { contentId } = await phone.document()
      const { blake3 } = await digestsOf(bytes)
      assert.equal(contentId, await contentIdOf('File', blake3))
      assert.equal(warningsAbout('blake3-kernel.wasm', daemon).length, 1, daemon.stderr())
    })
  }
})
