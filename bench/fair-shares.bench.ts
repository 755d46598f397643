/**
 * What does a device that takes all it can cost another one? (B21)
 *
 * Rounds of two phases: another device uses the daemon alone, and then beside one that holds on to
 * everything in `test/faults/support/cheap-holds.ts` at once. A third phase, for explanation: that
 * one also pushes texts on eight connections without a pause, which is work and no hold.
 * @module
 */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  CHEAP_HOLDS,
  formatRequest,
  HOLD_ARGS,
  type GreedyDevice,
} from '../test/faults/support/cheap-holds.ts'
import {
  OPERATIONS,
  useOnce,
  type Operation,
  type OtherDevice,
} from '../test/faults/support/other-device.ts'
import { RawClient } from '../test/support/raw-http.ts'
import { bench } from './support/bench.ts'
import { pairDevice, setUpDaemon, startDaemon } from './support/daemon.ts'
import { median } from './support/figure.ts'
import { isQuick } from './support/rounds.ts'
import { explain, judge, type Row } from './support/row.ts'

const ROUNDS = isQuick ? 2 : 7
const USES = isQuick ? 5 : 15
const PUSHERS = 8

/** For what the daemon does after connections were closed. */
const REST_MS = 1000

type Times = Readonly<Record<Operation, number>>

interface Round {
  readonly alone: Times
  readonly beside: Times
  readonly beneath: Times
}

void bench(async ({ cleanup, folder }): Promise<readonly Row[]> => {
  const setup = await setUpDaemon(join(folder, 'daemon'))
  const greedyLogin = await pairDevice(setup.env)
  const { port } = await startDaemon(cleanup, setup, ['--headless', ...HOLD_ARGS])
  const other = { gateway: `http://127.0.0.1:${port}`, authorization: setup.authorization }
  const open = new Set<RawClient>()
  const greedy: GreedyDevice = {
    authorization: greedyLogin,
    connect: async () => {
      const client = await RawClient.connect(port)
      open.add(client)
      client.socket.once('close', () => open.delete(client))
      return client
    },
  }
  // Whoever serves for the first time compiles.
  await useOften(other)

  const rounds: Round[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const alone = await useOften(other)
    for (const { begin } of CHEAP_HOLDS) await begin(greedy)
    const beside = await useOften(other)
    const pushers = new AbortController()
    const pushed = Promise.allSettled(
      Array.from({ length: PUSHERS }, () => pushOn(greedy, pushers.signal)),
    )
    const beneath = await useOften(other)
    pushers.abort()
    await pushed
    for (const client of open) client.close()
    await sleep(REST_MS)
    rounds.push({ alone, beside, beneath })
  }
  return OPERATIONS.flatMap((name) => {
    const baseline = rounds.map(({ alone }) => alone[name])
    const what = `${name}, and eight pushers`
    const flood = { what, unit: 'ms', baselineName: 'alone', baseline }
    return [
      judge(`B21 ${name}`, { measured: rounds.map(({ beside }) => beside[name]), baseline }),
      explain(`B21 ${name}`, { ...flood, measured: rounds.map(({ beneath }) => beneath[name]) }),
    ]
  })
})

/** The median of several uses. */
async function useOften(other: OtherDevice): Promise<Times> {
  const uses: Times[] = []
  for (let use = 0; use < USES; use++) uses.push(await useOnce(other, `use-${use}`))
  const of = (name: Operation): number => median(uses.map((times) => times[name]))
  return {
    read: of('read'),
    push: of('push'),
    upload: of('upload'),
    apply: of('apply'),
    download: of('download'),
  }
}

async function pushOn(greedy: GreedyDevice, signal: AbortSignal): Promise<void> {
  const client = await greedy.connect()
  for (let index = 0; !signal.aborted; index++) {
    const document = JSON.stringify({ type: 'Text', text: `pushed ${index}` })
    client.send(formatRequest(greedy, 'PUT /Sync.json', document.length) + document)
    await client.read()
  }
}
