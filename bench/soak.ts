/**
 * Does the daemon stay as it is when everything is done to it at once, for as long as one likes?
 * (B16)
 *
 * Twenty phones, programs that follow the clipboard, and their owner use it as they should, while
 * others guess passwords, break off, stall and talk nonsense. Memory, descriptors and threads are
 * sampled all the time, every answer is judged, every download compared. Writes
 * `bench/results/soak.json` and a summary; fails when something grew, leaked, or was wrong.
 *
 * `SOAK_MINUTES` (10), `SOAK_SEED` (the clock).
 * @module
 */

import { setMaxListeners } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AsyncCleanup } from '../src/lib/async-cleanup.ts'
import { castOf } from './soak/cast.ts'
import { startSoakedDaemon, type Heap, type SoakedDaemon, type Usage } from './soak/daemon.ts'
import { findDebris } from './soak/debris.ts'
import { SoakPhone } from './soak/phone.ts'
import { judgeSoak, printVerdict, type Sample } from './soak/verdict.ts'
import { Tally } from './soak/tally.ts'
import { act, type World } from './soak/world.ts'
import { usageMissing } from './support/process-usage.ts'

const MINUTES = Number(process.env['SOAK_MINUTES'] ?? 10)
const SEED = Number(process.env['SOAK_SEED'] ?? Date.now() % 2 ** 31)
const PHONES = 20

/**
 * Until compilers have compiled and caches are full, and again until an engine that has rested has
 * found its size; a fifth of the time at most.
 */
const WARM_UP_MS = Math.min(120_000, MINUTES * 12_000)

const SAMPLE_MS = 2000

/** Longer than workers are kept after their last use. */
const REST_MS = 15_000

/** Longer than anything else: readers that stall, uploads that wait. */
const MAX_REST_MS = 60_000

/** A daemon that has been left alone. */
interface Rest extends Usage {
  readonly heap: Heap
  readonly open: readonly string[]
}

void main()

async function main(): Promise<void> {
  if (usageMissing !== undefined) throw new Error(`The soak ${usageMissing}`)
  const cleanup = new AsyncCleanup()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void cleanup.run().finally(() => process.exit(1)))
  }
  try {
    await soak(cleanup)
  } finally {
    await cleanup.run()
  }
}

async function soak(cleanup: AsyncCleanup): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'clipgate-soak-'))
  cleanup.add(() => rm(folder, { recursive: true, force: true }))
  console.log(`Soaking for ${MINUTES} minutes, seed ${SEED}`)
  const daemon = await startSoakedDaemon(cleanup, folder)
  const phones = await pairPhones(daemon)
  const tally = new Tally()
  const start = performance.now()
  const stage = { daemon, phones, tally, start, folder }

  await play(stage, WARM_UP_MS)
  const before = await rest(daemon)
  tally.reset()
  const samples = await play(stage, MINUTES * 60_000 - WARM_UP_MS, WARM_UP_MS)
  const after = await rest(daemon)
  const debris = await findDebris(daemon.dataDir, { isRunning: true })
  const exitCode = await daemon.stop()
  const left = await findDebris(daemon.dataDir, { isRunning: false })

  const result = judgeSoak({
    minutes: MINUTES,
    seed: SEED,
    load: Number((loadavg()[1] ?? 0).toFixed(1)),
    before,
    after,
    samples,
    tally,
    debris: [...debris, ...left],
    exitCode,
    log: daemon.log.filter((line) => / (?:warn|error) /.test(line)),
  })
  const results = new URL('./results/', import.meta.url)
  await mkdir(results, { recursive: true })
  await writeFile(new URL('soak.json', results), `${JSON.stringify(result, undefined, 2)}\n`)
  printVerdict(result)
  if (result.failures.length > 0) process.exitCode = 1
}

async function pairPhones({ admin, gateway }: SoakedDaemon): Promise<readonly SoakPhone[]> {
  const unset = { label: undefined, username: undefined, password: undefined, url: undefined }
  const port = Number(new URL(gateway).port)
  const phones: SoakPhone[] = []
  for (let count = 0; count < PHONES; count++) {
    const phone = new SoakPhone(port, await admin.pair({ kind: 'phone', ...unset }), '127.0.0.1')
    // One after the other: all at once would have to wait for each other.
    await phone.ask('GET', '/')
    phones.push(phone)
  }
  return phones
}

interface Stage {
  readonly daemon: SoakedDaemon
  readonly phones: readonly SoakPhone[]
  readonly tally: Tally
  readonly start: number
  readonly folder: string
}

/**
 * Lets everybody act for a while, and looks on.
 *
 * @param unsampledMs How much of that it looks away.
 */
async function play(stage: Stage, ms: number, unsampledMs = 0): Promise<readonly Sample[]> {
  const { daemon, phones, tally, start, folder } = stage
  const { gateway, admin } = daemon
  const ending = new AbortController()
  const port = Number(new URL(gateway).port)
  const { signal } = ending
  // All actors listen to it.
  setMaxListeners(0, signal)
  const world: World = { port, gateway, admin, phones, tally, seed: SEED, signal, folder }
  const acting = castOf(world).map((actor, index) => act(world, actor, `${actor.who} ${index}`))
  const samples: Sample[] = []
  const end = performance.now() + ms
  await sleep(unsampledMs)
  while (performance.now() < end) {
    await sleep(SAMPLE_MS)
    samples.push({ at: (performance.now() - start) / 60_000, ...daemon.usage() })
  }
  ending.abort()
  await Promise.all(acting)
  for (const phone of phones) phone.close()
  return samples
}

/** Leaves the daemon alone until it has nothing more to give back. */
async function rest(daemon: SoakedDaemon): Promise<Rest> {
  const end = performance.now() + MAX_REST_MS
  let { threads, descriptors } = daemon.usage()
  for (let since = performance.now(); performance.now() < Math.min(end, since + REST_MS); ) {
    await sleep(SAMPLE_MS)
    const now = daemon.usage()
    if (now.threads === threads && now.descriptors === descriptors) continue
    ;({ threads, descriptors } = now)
    since = performance.now()
  }
  const heap = await daemon.heap()
  return { heap, open: daemon.openThings(), ...daemon.usage() }
}
