import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { DaemonOptions } from '../support/daemon-process.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { arrives } from './support/daemons.ts'
import { MemberProcess } from './support/member-process.ts'

const DAY_MS = 86_400_000

const WALL_CLOCK = fileURLToPath(new URL('../faults/support/wall-clock.js', import.meta.url))

/**
 * Another wall clock for a whole process. What `faketime` itself would do, which stays between us and
 * the process, and would be killed in its place.
 */
const faked = (offset: string): DaemonOptions => ({
  env: {
    // The dynamic linker knows what `$LIB` is.
    LD_PRELOAD: '/usr/$LIB/faketime/libfaketime.so.1',
    FAKETIME: offset,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  },
})

describe('two members with clocks a day apart', needs('faketime'), () => {
  for (const [name, offset, days] of [
    ['ahead', '+1d', 1],
    ['behind', '-1d', -1],
  ] as const) {
    it(`have the later item, when that of the one that joined is ${name}`, async (t) => {
      const node = await MemberProcess.start(t, 'node')
      const a = await MemberProcess.start(t, 'a', faked(offset))
      const both = async (contentId: string): Promise<void> => {
        await Promise.all([a, node].map(({ log }) => log.has(contentId)))
      }
      const clock = await a.phone.fetch('/api/time')
      const aheadMs = Date.parse(String(await clock.json())) - Date.now()
      assert.ok(Math.abs(aheadMs - days * DAY_MS) < DAY_MS / 4, `its clock is ${aheadMs} ms ahead`)

      // Connected.
      await a.join(node)
      for (const [round, member] of [a, node, node, a, node].entries()) {
        await both(await member.client.pushText(`connected ${round}`))
      }
      // The one that is behind, also when it was restarted.
      const late = days > 0 ? node : a
      const kept = join(late.daemon.folder, 'data', 'member.json')

      // Apart, each of them the first one once.
      for (const [round, [first, second]] of [
        [a, node],
        [node, a],
      ].entries()) {
        assert.ok(first && second, 'both are there')
        // One runs at a time.
        await second.stop()
        await first.client.pushText(`earlier ${round}`)
        await first.stop()
        await second.start()
        const later = await second.client.pushText(`later ${round}`)
        await first.start()
        await arrives(first, ({ contentId }) => contentId === later)
        for (const { client, name: who } of [a, node]) {
          assert.equal((await client.latest()).text, `later ${round}`, who)
        }
        await both(await second.client.pushText(`after ${round}`))
        assert.deepEqual(await a.stamp(), await node.stamp())
      }
      const { aheadMs: learnt } = JSON.parse(readFileSync(kept, 'utf8'))
      assert.ok(Math.abs(learnt - DAY_MS) < DAY_MS / 4, `it learnt ${learnt} ms`)
      assert.equal(statSync(kept).mode & 0o777, 0o600)
      for (const { daemon } of [a, node]) assert.doesNotMatch(daemon.stderr(), / (warn|error) /)
      // Killed, it would leave the shared memory of libfaketime behind.
      await a.stop()
    })
  }
})

describe('a member whose clock is behind at each boot until it is put right', () => {
  it('tells the others no later time than theirs', async (t) => {
    const clock = join(await temporaryFolder(t), 'clock')
    await writeFile(clock, String(3 * DAY_MS))
    const board = await MemberProcess.start(t, 'board', {
      args: ['--headless'],
      env: {
        NODE_OPTIONS: `--import ${WALL_CLOCK}`,
        CLIPGATE_TEST_CLOCK: clock,
        CLIPGATE_TEST_CLOCK_AHEAD: String(-3 * DAY_MS),
      },
    })
    const aheadMs = async (): Promise<number> => {
      const response = await board.phone.fetch('/api/time')
      return Date.parse(String(await response.json())) - Date.now()
    }
    /** Meets a member whose clock is right. */
    const meet = async (): Promise<void> => {
      const headers = { 'X-Clipgate-Time': String(Date.now()) }
      const response = await board.phone.fetch('/Sync.json', { headers })
      const toldMs = Number(response.headers.get('X-Clipgate-Time')) - Date.now()
      assert.ok(Math.abs(toldMs) < DAY_MS / 2, `it is ${toldMs} ms ahead`)
    }
    for (const boot of [1, 2, 3]) {
      if (boot > 1) await board.start()
      assert.ok((await aheadMs()) < -DAY_MS, 'its clock is behind')
      await meet()
      board.daemon.child.kill('SIGUSR2')
      while ((await aheadMs()) < -DAY_MS / 2) continue
      await meet()
      await board.stop()
      const kept = readFileSync(join(board.daemon.folder, 'data', 'member.json'), 'utf8')
      assert.ok(JSON.parse(kept).aheadMs < DAY_MS / 2, kept)
    }
  })
})
