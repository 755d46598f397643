/**
 * What does TLS cost, beside the same daemon without? (B23)
 * @module
 */

import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { download, open, upload, type BodyTarget } from './support/big-body.ts'
import { bench } from './support/bench.ts'
import { setUpDaemon, startDaemon, type Daemon } from './support/daemon.ts'
import { readCpuSeconds, readMemory, usageMissing } from './support/process-usage.ts'
import { alternate, BODY_BYTES, contender, isQuick, timed, toRates } from './support/rounds.ts'
import { explain, judge, skip, type Row } from './support/row.ts'

const ROUNDS = isQuick ? 3 : 9

const HANDSHAKES = isQuick ? 100 : 300

const PROCESSES = isQuick ? 3 : 7

/** A start leaves things to be done, such as compiling what turned out to be used often. */
const SETTLE_MS = isQuick ? 3_000 : 10_000

const NAME = 'large.bin'

const WITH_TLS = ['--headless', '--tls', 'local', '--tls-listen', '127.0.0.1:0']

void bench(async ({ cleanup, folder }) => {
  const start = async (name: string, mode?: readonly string[]): Promise<Daemon> =>
    startDaemon(cleanup, await setUpDaemon(join(folder, name)), mode)
  const daemon = await start('daemon', WITH_TLS)
  const plain = { ...daemon, path: `/file/${NAME}` }
  const secure = { ...plain, port: await findSecurePort(daemon), isSecure: true }
  await upload(plain, BODY_BYTES)
  await daemon.push(NAME)
  const pulls = await compare(plain, secure, download)
  const pushes = await compare(plain, secure, upload)
  const rows = [judge('B23 pull', pulls), judge('B23 push', pushes)]
  if (usageMissing !== undefined) {
    return [...rows, skip('B23 handshake', usageMissing), skip('B23 idle', usageMissing)]
  }
  const handshakes = [contender(() => connectOften(secure)), contender(() => connectOften(plain))]
  await alternate(handshakes, { rounds: ROUNDS })
  const [measured = [], baseline = []] = handshakes.map(({ values }) => values)
  return [...rows, judge('B23 handshake', { measured, baseline }), ...(await compareIdle(start))]
})

async function findSecurePort(daemon: Daemon): Promise<number> {
  const admin = await daemon.openAdmin()
  const { listeners } = await admin.status()
  await admin.close()
  const [url = ''] = listeners.find(({ name }) => name === 'tls')?.urls ?? []
  return Number(new URL(url).port)
}

async function compare(
  plain: BodyTarget,
  secure: BodyTarget,
  transfer: (target: BodyTarget, size: number) => Promise<unknown>,
) {
  const contenders = [secure, plain].map((target) =>
    contender(() => timed(() => transfer(target, BODY_BYTES))),
  )
  await alternate(contenders, { rounds: ROUNDS })
  const [measured = [], baseline = []] = contenders.map(({ values }) => toRates(values))
  return { measured, baseline }
}

/** Milliseconds of its processor time that a daemon takes for a connection with one request. */
async function connectOften(target: BodyTarget & { readonly pid: number }): Promise<number> {
  const before = readCpuSeconds(target.pid)
  for (let count = 0; count < HANDSHAKES; count++) {
    const socket = open(target)
    socket.write('GET /healthz HTTP/1.1\r\nHost: box\r\n\r\n')
    await once(socket, 'data')
    socket.destroy()
  }
  return (1000 * (readCpuSeconds(target.pid) - before)) / HANDSHAKES
}

/** Memory does not care how busy the machine is, so all processes rest at the same time. */
async function compareIdle(
  start: (name: string, mode?: readonly string[]) => Promise<Daemon>,
): Promise<readonly Row[]> {
  const plain: Daemon[] = []
  const secure: Daemon[] = []
  for (let index = 0; index < PROCESSES; index++) {
    plain.push(await start(`plain-${index}`))
    secure.push(await start(`secure-${index}`, WITH_TLS))
  }
  await sleep(SETTLE_MS)
  const difference = (kind: 'anonymous' | 'rss'): readonly number[] => {
    const [less = [], more = []] = [plain, secure].map((daemons) =>
      daemons.map(({ pid }) => readMemory(pid)[kind]).sort((a, b) => a - b),
    )
    return more.map((each, index) => each - (less[index] ?? 0))
  }
  return [
    judge('B23 idle', { measured: difference('anonymous') }),
    explain('B23 idle', {
      what: 'with the code of Node that it uses',
      unit: 'MiB',
      measured: difference('rss'),
    }),
  ]
}
