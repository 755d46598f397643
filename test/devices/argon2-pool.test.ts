import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { describe, it, type TestContext } from 'node:test'
import { MIB } from '../../src/core/limits.ts'
import { Argon2Pool, type Argon2PoolOptions } from '../../src/devices/argon2-pool.ts'
import { affordableBytes, type MemoryRoom } from '../../src/devices/login-memory.ts'
import type { Argon2Job } from '../../src/devices/phc-string.ts'
import type { Place } from '../../src/devices/verification-queue.ts'
import { MemoryTurn } from '../../src/lib/memory-turn.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { FakeClock } from '../support/fake-clock.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** The smallest job that four lanes can have. */
const JOB: Argon2Job = {
  password: bytes('eight-chars'),
  salt: bytes('sixteen-byte-sal'),
  memoryKib: 32,
  passes: 1,
  parallelism: 4,
  tagLength: 32,
}

/** Where everybody waits. */
const PLACE: Place = { lane: 'a', comesAgain: false }

/** Kills its worker: no implementation takes such a salt. */
const DEADLY: Argon2Job = { ...JOB, salt: bytes('x') }

const linuxOnly = {
  skip: process.platform === 'linux' ? false : 'threads have no priority of their own',
}

function openPool(t: TestContext, options: Partial<Argon2PoolOptions> = {}) {
  const clock = new FakeClock()
  const pool = new Argon2Pool({ clock, ...options })
  t.after(() => pool.close())
  return { clock, pool }
}

/** Threads and their ports that keep this program alive. */
const activeWorkers = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length

/** What `nice` has given this program. */
const OWN_NICENESS = getPriority()

/** How many threads of this program have given up more of their priority than that. */
function countPatient(): number {
  const nicenesses = readdirSync('/proc/self/task').map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
    // Field 19 of proc(5); the name, in parentheses, may hold anything.
    return Number(stat.replace(/^.*\) /s, '').split(' ')[16])
  })
  return nicenesses.filter((niceness) => niceness > OWN_NICENESS).length
}

describe('Argon2Pool', () => {
  it('starts no worker that a limit on memory has no room for, and says so now and then', async (t) => {
    const logger = new CaptureLogger()
    let room: MemoryRoom | undefined = { limit: 64 * MIB, left: 40 * MIB }
    const { pool, clock } = openPool(t, { logger, room: () => room })
    const refused = { code: 'VERIFIER_BUSY', message: /limit on memory/ }
    await assert.rejects(pool.derive(JOB, PLACE), refused)
    await assert.rejects(pool.derive(JOB, 'urgent'), refused)
    assert.match(
      logger.text,
      /^[^\n]*Logins are refused[^\n]*74 MiB[^\n]*40 MiB[^\n]*64 MiB[^\n]*\n?$/,
    )
    clock.advance(600_000)
    await assert.rejects(pool.derive(JOB, PLACE), refused)
    assert.equal(logger.text.match(/refused/g)?.length, 2)

    for (room of [{ limit: 96 * MIB, left: 74 * MIB }, undefined]) {
      assert.equal((await pool.derive(JOB, PLACE)).length, 32)
    }
    // The memory of a worker that runs is taken already.
    room = { limit: 96 * MIB, left: 2 * MIB }
    assert.equal((await pool.derive(JOB, PLACE)).length, 32)
  })

  it('leaves to what is kept a part of what a limit has beyond a login', () => {
    const kept = [64, 96, 112, 128, 512].map(
      (limit) => affordableBytes(16 * MIB, { limit: limit * MIB, left: 0 }) / MIB,
    )
    assert.deepEqual(kept, [1, 1, 4, 8, 16])
  })

  it('runs one job after the other, in order', async (t) => {
    const { pool } = openPool(t)
    const order: number[] = []
    const run = async (number: number): Promise<void> => {
      await pool.derive(JOB, PLACE)
      order.push(number)
    }
    await Promise.all([1, 2, 3].map(run))
    assert.deepEqual(order, [1, 2, 3])
  })

  it('refuses what does not fit into the queue', async (t) => {
    const { pool } = openPool(t, { queue: 2 })
    const jobs = [1, 2, 3, 4, 5].map(() => pool.derive(JOB, PLACE))
    const ends = (await Promise.allSettled(jobs)).map((end) =>
      end.status === 'rejected' ? end.reason.code : end.value.length,
    )
    assert.deepEqual(ends, [32, 32, 32, 'VERIFIER_BUSY', 'VERIFIER_BUSY'])
    assert.equal((await pool.derive(JOB, PLACE)).length, 32)
  })

  it('refuses what has waited for 3 s, but not what runs', async (t) => {
    const { clock, pool } = openPool(t)
    const running = pool.derive(JOB, PLACE)
    const waiting = pool.derive(JOB, PLACE)
    clock.advance(3_000)
    await assert.rejects(waiting, { code: 'VERIFIER_BUSY' })
    assert.equal((await running).length, 32)
    assert.equal((await pool.derive(JOB, PLACE)).length, 32)
  })

  // Protocol: 10 s where seen last
  it('lets a device wait longer where it was seen last, and then refuses it, too', async (t) => {
    const { clock, pool } = openPool(t)
    const running = pool.derive(JOB, PLACE)
    const wait = (username: string, isAtUsualNetwork: boolean) => {
      const end = pool.derive(JOB, { ...PLACE, reservation: { username, isAtUsualNetwork } })
      return end.then(
        () => 'verified',
        ({ code }) => code,
      )
    }
    const [known, elsewhere] = [wait('a', true), wait('b', false)]
    clock.advance(3_000)
    assert.equal(await elsewhere, 'VERIFIER_BUSY')
    assert.equal(await known, 'verified')
    await running

    const next = pool.derive(JOB, PLACE)
    const late = wait('a', true)
    clock.advance(10_000)
    assert.equal(await late, 'VERIFIER_BUSY')
    await next
  })

  it('takes urgent jobs first, however long the queue is and however long they wait', async (t) => {
    const { clock, pool } = openPool(t, { queue: 1 })
    const order: string[] = []
    const run = async (name: string, place: 'urgent' | Place): Promise<void> => {
      await pool.derive(JOB, place)
      order.push(name)
    }
    const all = [
      run('running', PLACE),
      run('waiting', PLACE),
      run('first', 'urgent'),
      run('second', 'urgent'),
    ]
    clock.advance(2_999)
    await Promise.all(all)
    assert.deepEqual(order, ['running', 'first', 'second', 'waiting'])
  })

  it('takes another lane in when it is full, and drops the newest of the first', async (t) => {
    const { pool } = openPool(t, { queue: 2 })
    const jobs = [1, 2, 3].map(() => pool.derive(JOB, PLACE))
    const other = pool.derive(JOB, { lane: 'b', comesAgain: false })
    await assert.rejects(jobs[2] ?? other, { code: 'VERIFIER_BUSY' })
    assert.equal((await other).length, 32)
    assert.deepEqual(
      (await Promise.all(jobs.slice(0, 2))).map(({ length }) => length),
      [32, 32],
    )
  })

  it('has no timer left once nothing waits any more', async (t) => {
    const { clock, pool } = openPool(t, { queue: 1 })
    const ends = Promise.allSettled([1, 2, 3].map(() => pool.derive(JOB, PLACE)))
    assert.equal(clock.pending, 1, 'the one that waits')
    await ends
    assert.equal(clock.pending, 1, 'the end of the idle worker')
  })

  it('runs as many jobs at once as it may have workers', async (t) => {
    const { pool } = openPool(t, { workers: 2, queue: 0 })
    const jobs = [1, 2, 3].map(() => pool.derive(JOB, PLACE))
    const ends = await Promise.allSettled(jobs)
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected'],
    )
  })

  it('fails the job of a worker that dies, and starts another for the next one', async (t) => {
    const { pool } = openPool(t)
    const [dead, alive] = await Promise.allSettled([
      pool.derive(DEADLY, PLACE),
      pool.derive(JOB, PLACE),
    ])
    assert.equal(dead.status, 'rejected')
    assert.match(String(dead.status === 'rejected' && dead.reason), /the worker ended/)
    assert.equal(alive.status, 'fulfilled')
    await assert.rejects(pool.derive(DEADLY, 'urgent'), /the worker ended/)
    assert.equal((await pool.derive(JOB, PLACE)).length, 32)
  })

  it('holds neither the program nor a worker when there is nothing to do', async (t) => {
    const { clock, pool } = openPool(t)
    const before = activeWorkers()
    const running = pool.derive(JOB, PLACE)
    assert.equal(activeWorkers(), before + 1)
    await running
    assert.equal(activeWorkers(), before)
    assert.equal(clock.pending, 1)
    clock.advance(5_000)
    assert.equal(clock.pending, 0)
    assert.equal((await pool.derive(JOB, PLACE)).length, 32)
  })

  it('keeps no idle worker where a limit on memory would leave too little for files that come', async (t) => {
    let room: MemoryRoom = { limit: 96 * MIB, left: 80 * MIB }
    const { clock, pool } = openPool(t, { room: () => room })
    const running = pool.derive(JOB, PLACE)
    room = { limit: 96 * MIB, left: 12 * MIB }
    assert.equal((await running).length, 32)
    assert.equal(clock.pending, 0)
    // The next one does not find the memory that the last one still holds, and waits for it.
    const next = pool.derive(JOB, PLACE)
    room = { limit: 96 * MIB, left: 80 * MIB }
    assert.equal((await next).length, 32)
    assert.equal(clock.pending, 1)
  })

  it('ends its worker at once for a long text where the limit on memory is low, and waits', async (t) => {
    const { clock, pool } = openPool(t, { room: () => ({ limit: 128 * MIB, left: 80 * MIB }) })
    const before = activeWorkers()
    const running = pool.derive(JOB, PLACE)
    const text = await MemoryTurn.of(clock).take()
    assert.equal((await running).length, 32)
    assert.equal(activeWorkers(), before)
    const waiting = pool.derive(JOB, PLACE)
    const late = assert.rejects(pool.derive(JOB, { ...PLACE, lane: 'b' }), {
      code: 'VERIFIER_BUSY',
    })
    assert.equal(activeWorkers(), before)
    clock.advance(3_000)
    await assert.rejects(waiting, { code: 'VERIFIER_BUSY' })
    await late
    const next = pool.derive(JOB, PLACE)
    text.release()
    assert.equal((await next).length, 32)
  })

  it('runs what has waited for a long text on as many workers as it may have', async (t) => {
    const room = () => ({ limit: 128 * MIB, left: 80 * MIB })
    const { clock, pool } = openPool(t, { room, workers: 2 })
    const before = activeWorkers()
    const text = await MemoryTurn.of(clock).take()
    const waiting = [1, 2, 3].map(() => pool.derive(JOB, PLACE))
    assert.equal(activeWorkers(), before)
    text.release()
    // It hears of that a moment later; the jobs end once their workers have started.
    for (let turns = 0; turns < 20; turns++) await Promise.resolve()
    assert.equal(activeWorkers(), before + 2)
    assert.equal((await Promise.all(waiting)).length, 3)
  })

  it('keeps a worker that is asked again before it has been idle for long', async (t) => {
    const { clock, pool } = openPool(t)
    await pool.derive(JOB, PLACE)
    clock.advance(4_999)
    const running = pool.derive(JOB, PLACE)
    clock.advance(4_999)
    assert.equal((await running).length, 32)
  })

  it('leaves the processor to others when a crowd waits', linuxOnly, async (t) => {
    const { pool } = openPool(t)
    await pool.derive(JOB, PLACE)
    assert.equal(countPatient(), 0)
    await Promise.all([1, 2, 3, 4, 5, 6].map(() => pool.derive(JOB, PLACE)))
    // Whoever is last already cannot step back.
    assert.equal(countPatient(), OWN_NICENESS < 19 ? 1 : 0)
  })

  it('has its workers in common with other pools of the program, which are served in turn', async (t) => {
    const { clock, pool } = openPool(t)
    const other = new Argon2Pool({ clock })
    t.after(() => other.close())
    const before = activeWorkers()
    const order: string[] = []
    const run = async (from: Argon2Pool, name: string): Promise<void> => {
      await from.derive(JOB, PLACE)
      order.push(name)
    }
    const all = [run(pool, 'a'), run(pool, 'b'), run(pool, 'c'), run(other, 'd')]
    assert.equal(activeWorkers(), before + 1)
    await Promise.all(all)
    assert.ok(order.indexOf('d') < order.indexOf('c'), order.join())
    assert.equal(clock.pending, 1, 'one idle worker')
  })

  it('fails what was asked of it when it closes, and nothing of another pool', async (t) => {
    const { clock, pool } = openPool(t)
    const other = new Argon2Pool({ clock })
    const jobs = [other.derive(JOB, PLACE), other.derive(JOB, PLACE)]
    const kept = [pool.derive(JOB, PLACE), pool.derive(JOB, 'urgent')]
    const [ends] = await Promise.all([Promise.allSettled(jobs), other.close()])
    for (const end of ends) assert.match(String(end.status === 'rejected' && end.reason), /closed/)
    for (const tag of await Promise.all(kept)) assert.equal(tag.length, 32)
  })

  it('fails everything that is asked of it when it closes, and afterwards', async () => {
    const pool = new Argon2Pool({ clock: new FakeClock() })
    const jobs = [pool.derive(JOB, PLACE), pool.derive(JOB, PLACE), pool.derive(JOB, 'urgent')]
    const [ends] = await Promise.all([Promise.allSettled(jobs), pool.close()])
    for (const end of ends) assert.match(String(end.status === 'rejected' && end.reason), /closed/)
    await assert.rejects(pool.derive(JOB, 'urgent'), /closed/)
    await pool.close()
  })
})
