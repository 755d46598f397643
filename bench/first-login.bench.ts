/**
 * How long does the first login take, beside Argon2id alone as native code? (B13)
 *
 * Ours is all of a request to a daemon that was just started: the worker has to start as well. The
 * other side is one run of the same parameters in a fresh process, by `node:crypto` where it can,
 * else by a package that is installed for that. The package takes a thread for each lane, whatever
 * it is told: so it is kept on one processor, to be what `node:crypto` is. What all processors
 * together would do is a row of its own.
 * @module
 */

import * as crypto from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RawClient } from '../test/support/raw-http.ts'
import { bench, type BenchContext } from './support/bench.ts'
import { setUpDaemon, startDaemon, type DaemonSetup } from './support/daemon.ts'
import { execute, findProgram } from './support/processes.ts'
import { alternate, contender, isQuick, timed } from './support/rounds.ts'
import { explain, judge, skip } from './support/row.ts'

const ROUNDS = isQuick ? 3 : 15

const NATIVE = fileURLToPath(new URL('./baseline/native-argon2.js', import.meta.url))

const PACKAGE = '@node-rs/argon2@2'

const NPM = process.env['NPM'] ?? 'npm'

void bench(async ({ cleanup, folder }) => {
  const native = await findNative(folder)
  if (native === undefined) return [skip('B13', `no registry has ${PACKAGE}`)]
  const isPackage = native.length > 0
  const taskset = findProgram('taskset')
  if (isPackage && taskset === undefined) return [skip('B13', 'needs taskset')]
  const pin = isPackage && taskset !== undefined ? [taskset, '-c', await firstProcessor()] : []
  const setup = await setUpDaemon(join(folder, 'daemon'))
  const ours = contender(() => timeFirstLogin(cleanup, setup))
  const oneThread = contender(() => timeNative(native, pin))
  const allThreads = contender(() => timeNative(native, []))
  const contenders = isPackage ? [ours, oneThread, allThreads] : [ours, oneThread]
  await alternate(contenders, { rounds: ROUNDS })
  const note = isPackage ? PACKAGE : 'node:crypto'
  return [
    judge('B13', { measured: ours.values, baseline: oneThread.values, note }),
    ...(isPackage
      ? [
          explain('B13', {
            what: 'beside a thread for each lane',
            unit: 'ms',
            measured: ours.values,
            baseline: allThreads.values,
          }),
        ]
      : []),
  ]
})

/** @param pin What keeps a command on one processor. */
async function timeNative(native: readonly string[], pin: readonly string[]): Promise<number> {
  const [program = '', ...args] = [...pin, process.execPath, NATIVE, ...native]
  const { stdout } = await execute(program, args, { env: {} })
  return Number(stdout)
}

/** The first of those that this process may use. */
async function firstProcessor(): Promise<string> {
  const status = await readFile('/proc/self/status', 'utf8')
  const [, number] = /^Cpus_allowed_list:\s*(\d+)/m.exec(status) ?? []
  if (number === undefined) throw new Error('Cannot find out which processors there are')
  return number
}

/** Arguments of the native side; `undefined` when this machine has none. */
async function findNative(folder: string): Promise<readonly string[] | undefined> {
  if ('argon2Sync' in crypto) return []
  const installed = join(folder, 'native')
  await mkdir(installed)
  await writeFile(join(installed, 'package.json'), '{"private":true}\n')
  try {
    const options = ['--prefer-offline', '--no-audit', '--no-fund']
    await execute(NPM, ['install', ...options, PACKAGE], { cwd: installed })
    return [installed]
  } catch {
    // Without a network, for example; the row says so.
    return undefined
  }
}

async function timeFirstLogin(
  cleanup: BenchContext['cleanup'],
  setup: DaemonSetup,
): Promise<number> {
  const { port, authorization, stop } = await startDaemon(cleanup, setup)
  const client = await RawClient.connect(port)
  const seconds = await timed(async () => {
    client.send(`GET / HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`)
    const { status } = await client.read()
    if (status !== 200) throw new Error(`A first login was answered with ${status}`)
  })
  client.close()
  await stop()
  return 1000 * seconds
}
