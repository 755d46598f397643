import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { createRandom } from '../faults/support/random.ts'
import { byNight, SEED } from '../support/night.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { openTestStorage } from './support/open-stores.ts'
import { expectAfter, findRounds } from './support/rounds.ts'

const KILLS = byNight(1000, { byDay: 8 })

const random = createRandom(SEED)

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

let programs = ''

before(async () => {
  programs = await mkdtemp(join(tmpdir(), 'clipgate-programs-'))
  // Each start from the sources would take seconds.
  await build({
    entryPoints: [join(ROOT, 'test/storage/support/storage-program.ts')],
    outfile: join(programs, 'storage-program.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  })
  for (const file of ['blake3-worker.js', 'blake3-kernel.wasm']) {
    await copyFile(join(ROOT, 'src/hashing', file), join(programs, file))
  }
})

after(() => rm(programs, { recursive: true }))

/** Plays rounds from `first` on until it is killed, and returns the last one acknowledged. */
async function playAndKill(folder: string, first: number): Promise<number> {
  const args = [join(programs, 'storage-program.mjs'), folder, `loop:${first}`]
  const env = { ...process.env, NODE_PATH: join(ROOT, 'node_modules') }
  const program = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env })
  const exit = once(program, 'exit')
  let last = first - 1
  const rounds = 1 + random.below(12)
  for await (const line of createInterface(program.stdout)) {
    assert.equal(line, String(last + 1))
    last++
    if (last !== first + rounds - 1) continue
    // Somewhere in the next round.
    await delay(random.below(12))
    program.kill('SIGKILL')
  }
  await exit
  assert.equal(program.signalCode, 'SIGKILL')
  return last
}

describe('a program that is killed', () => {
  it(`leaves what it acknowledged, whole, and no debris (${KILLS} times)`, async (t) => {
    const folder = await temporaryFolder(t)
    let last = -1
    for (let kill = 0; kill < KILLS; kill++) {
      last = await playAndKill(folder, last + 1)
      const storage = await openTestStorage(t, { folder })
      const found = await findRounds(storage, last)
      const expected = expectAfter(last)
      const context = `after round ${last}`
      for (const [name, round] of found.staged) {
        assert.ok(expected.staged.get(name)?.includes(round), `${context}: ${name} is of ${round}`)
      }
      assert.ok(expected.binary.includes(found.binary), `${context}: bytes of ${found.binary}`)
      assert.ok(expected.text.includes(found.text), `${context}: text of ${found.text}`)

      const waiting = [...found.staged.values()].filter((round) => round !== undefined).length
      const inItem = found.binary === undefined ? 0 : 1
      assert.equal((await storage.stagingFiles()).length, waiting, context)
      assert.equal((await storage.blobFiles()).length, waiting + inItem, context)
      const known = ['blobs', 'item.json', 'lock', 'staging']
      const unknown = (await readdir(folder)).filter((name) => !known.includes(name))
      assert.deepEqual(unknown, [], context)
      assert.deepEqual(storage.logger.lines, [], context)
      // The next one goes on from what is known: a round that was not acknowledged is played again.
      await storage.close()
    }
  })
})
