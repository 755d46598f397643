/**
 * The program on other processors, below `qemu-user`: `make processors`, which gets what it needs.
 * @module
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { buildProgram } from '../faults/support/built-program.ts'
import { createPhone } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { MIB } from '../../src/core/limits.ts'
import { sha256 } from '../support/hashes.ts'

/** By Debian's name; not all have what the kernels with SIMD need. */
const PROCESSORS = {
  arm64: { emulator: 'qemu-aarch64', hasSimd: true },
  armhf: { emulator: 'qemu-arm', hasSimd: true },
  riscv64: { emulator: 'qemu-riscv64', hasSimd: false },
}

const SYSTEMS = fileURLToPath(new URL('../../node_modules/.cache/processors/', import.meta.url))

// `i8x16.splat`, and what is around it.
const ASK_SIMD = `WebAssembly.validate(new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 8, 1, 6, 0, 65, 0, 253, 15, 11,
]))`

const program = await buildProgram()

for (const [name, { emulator, hasSimd }] of Object.entries(PROCESSORS)) {
  describe(`the daemon on ${name}`, () => {
    const system = join(SYSTEMS, name)
    const start = (t: TestContext, ...args: readonly string[]) => {
      const node = join(system, 'usr/bin/node')
      const child = spawn(emulator, ['-L', system, node, ...args], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      t.after(() => child.kill('SIGKILL'))
      return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() }
    }

    it(`${hasSimd ? 'has' : 'has no'} SIMD`, async (t) => {
      const { lines } = start(t, '--print', ASK_SIMD)
      assert.equal((await lines.next()).value, String(hasSimd))
    })

    it('pairs, takes 64 MiB and serves them, with the hash that they have here', async (t) => {
      const data = ['--data-dir', join(await temporaryFolder(t), 'data')]
      const ports = ['--listen', '127.0.0.1:0', '--control', '127.0.0.1:0']
      const serve = ['serve', '--json', '--headless', ...ports, ...data]
      const { child, lines } = start(t, program.main, ...serve)
      const ready = JSON.parse((await lines.next()).value)
      // Below an emulator on a busy machine, one hash may take longer than a command waits.
      let paired: string | undefined
      while (paired === undefined) {
        paired = (await start(t, program.main, 'pair', '--json', ...data).lines.next()).value
      }
      const phone = createPhone(JSON.parse(paired), ready.gateway)
      const bytes = randomBytes(64 * MIB)
      await phone.pushFile('File', 'a.bin', bytes)
      assert.equal((await phone.document())['hash'], sha256(bytes))
      assert.equal(sha256(await phone.download()), sha256(bytes))
      const wrong = await phone.fetch('/Sync.json', { headers: { authorization: 'Basic YTpi' } })
      assert.equal(wrong.status, 401)
      child.kill('SIGTERM')
      assert.deepEqual(await once(child, 'exit'), [0, null])
    })
  })
}
