/**
 * How fast does a large file get from one member to another, beside `curl -T` to one of them? (B19)
 *
 * One daemon has joined the other: it pulls what is uploaded there, and pushes what is uploaded to
 * itself. Both ways are measured, from the document that makes the upload current on the one side
 * to the moment at which it is current, and durable, on the other.
 * @module
 */

import { randomBytes, randomFillSync } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { connect, type Client } from '../src/client/connect.ts'
import { bench } from './support/bench.ts'
import { setUpDaemon, startDaemon, type Daemon } from './support/daemon.ts'
import { readCpuSeconds, usageMissing } from './support/process-usage.ts'
import { execute, findProgram } from './support/processes.ts'
import { alternate, BODY_BYTES, contender, isQuick, timed, toRates } from './support/rounds.ts'
import { judge, skip, type Row } from './support/row.ts'

const ROUNDS = isQuick ? 3 : 5

const BLOCK_BYTES: number = 16 * 1024 * 1024

interface Member {
  readonly daemon: Daemon
  readonly client: Client
}

/** What one file took on its way from `curl` to the one member, and from there to the other. */
interface Trip {
  readonly uploadSeconds: number
  /** Processor time of the member that `curl` talks to. */
  readonly uploadCpuSeconds: number
  readonly seconds: number
  /** Processor time of the receiving member. */
  readonly cpuSeconds: number
}

void bench(async ({ cleanup, folder }) => {
  if (findProgram('curl') === undefined) {
    return [skip('B19 pull', 'needs curl'), skip('B19 push', 'needs curl')]
  }
  const start = async (name: string): Promise<Member> => {
    const daemon = await startDaemon(cleanup, await setUpDaemon(join(folder, name)))
    return { daemon, client: clientOf(daemon) }
  }
  const [joined, joining] = [await start('joined'), await start('joining')]
  await joinMembers(joining.daemon, joined.daemon)

  const path = join(folder, 'large.bin')
  await writeRandom(path)
  const pull = contender(() => travel(path, joined, joining))
  const push = contender(() => travel(path, joining, joined))
  await alternate([pull, push], {
    rounds: ROUNDS,
    prepare: async () => {
      await changeStart(path)
      await execute('sync')
    },
  })
  return [...rowsOf('B19 pull', pull.values), ...rowsOf('B19 push', push.values)]
})

function rowsOf(budget: 'B19 pull' | 'B19 push', trips: readonly Trip[]): readonly Row[] {
  const measured = toRates(trips.map(({ seconds }) => seconds))
  return [
    judge(budget, { measured, baseline: toRates(trips.map(({ uploadSeconds }) => uploadSeconds)) }),
    usageMissing === undefined
      ? judge(`${budget} cost`, {
          measured: trips.map(({ cpuSeconds }) => cpuSeconds),
          baseline: trips.map(({ uploadCpuSeconds }) => uploadCpuSeconds),
        })
      : skip(`${budget} cost`, usageMissing),
  ]
}

let names = 0

async function travel(path: string, from: Member, to: Member): Promise<Trip> {
  const name = `travel-${names++}.bin`
  const { daemon } = from
  const before = readCpuSeconds(daemon.pid)
  const uploadSeconds = await timed(() => uploadWithCurl(path, daemon, name))
  const uploadCpuSeconds = readCpuSeconds(daemon.pid) - before
  const start = readCpuSeconds(to.daemon.pid)
  const seconds = await timed(async () => {
    const arrived = arrives(to, name)
    await Promise.all([daemon.push(name), arrived])
  })
  const cpuSeconds = readCpuSeconds(to.daemon.pid) - start
  // Takes the place of the large one, whose bytes are removed then.
  const small = `small-${name}`
  const replaced = arrives(to, small)
  await daemon.send('PUT', `/file/${small}`, small)
  await Promise.all([daemon.push(small), replaced])
  return { uploadSeconds, uploadCpuSeconds, seconds, cpuSeconds }
}

/** Resolves when what is current there has this name. */
async function arrives({ client }: Member, name: string): Promise<void> {
  for await (const { dataName } of client.watch()) if (dataName === name) return
}

async function uploadWithCurl(path: string, daemon: Daemon, name: string): Promise<void> {
  const header = `Authorization: ${daemon.authorization}`
  const url = `http://127.0.0.1:${daemon.port}/file/${name}`
  await execute('curl', ['--silent', '--fail', '--header', header, '--upload-file', path, url])
}

async function joinMembers(from: Daemon, to: Daemon): Promise<void> {
  const [admin, other] = [await from.openAdmin(), await to.openAdmin()]
  const device = {
    kind: 'peer',
    label: 'Member',
    username: undefined,
    password: undefined,
  } as const
  const { link } = await other.pair({ ...device, url: `http://127.0.0.1:${to.port}` })
  await admin.join({ link, name: undefined, tlsFingerprint: undefined })
  await Promise.all([admin.close(), other.close()])
}

function clientOf({ port, authorization }: Daemon): Client {
  const plain = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString()
  const colon = plain.indexOf(':')
  const [username, password] = [plain.slice(0, colon), plain.slice(colon + 1)]
  return connect({ url: `http://127.0.0.1:${port}`, username, password })
}

/** Random: it must not be easier to hash or to store than other files. */
async function writeRandom(path: string): Promise<void> {
  const file = await open(path, 'w')
  const block = randomFillSync(Buffer.allocUnsafeSlow(BLOCK_BYTES))
  for (let size = 0; size < BODY_BYTES; size += BLOCK_BYTES) await file.write(block)
  await file.close()
}

/** What members have already would not travel. */
async function changeStart(path: string): Promise<void> {
  const file = await open(path, 'r+')
  await file.write(randomBytes(16), 0, 16, 0)
  await file.close()
}
