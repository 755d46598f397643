/**
 * How long does a daemon take to start, beside a bare Node server? (B10)
 *
 * From the moment that the system is asked for a process to its first line of output, which the
 * daemon prints when both its listeners accept connections.
 * @module
 */

import { join } from 'node:path'
import { bench } from './support/bench.ts'
import { setUpDaemon, startDaemon } from './support/daemon.ts'
import { startBaseline, type StartedProcess } from './support/processes.ts'
import { alternate, contender, isQuick } from './support/rounds.ts'
import { judge } from './support/row.ts'

const ROUNDS = isQuick ? 7 : 31

void bench(async ({ cleanup, folder }) => {
  const setup = await setUpDaemon(join(folder, 'daemon'))
  const ours = contender(async () => timeStart(await startDaemon(cleanup, setup)))
  const bare = contender(async () => timeStart(await startBaseline(cleanup, 'answer-server')))
  await alternate([ours, bare], { rounds: ROUNDS })
  return [judge('B10', { measured: ours.values, baseline: bare.values })]
})

async function timeStart({ startMs, stop }: StartedProcess): Promise<number> {
  await stop()
  return startMs
}
