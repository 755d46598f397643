/**
 * How fast does a large file go out, beside nginx with `sendfile`? (B7)
 * @module
 */

import { join } from 'node:path'
import { download, upload, type BodyTarget } from './support/big-body.ts'
import { bench } from './support/bench.ts'
import { setUpDaemon, startDaemon } from './support/daemon.ts'
import { startNginx } from './support/nginx.ts'
import { readCpuSeconds, usageMissing } from './support/process-usage.ts'
import { alternate, BODY_BYTES, contender, isQuick, timed, toRates } from './support/rounds.ts'
import { explain, judge, skip } from './support/row.ts'

const ROUNDS = isQuick ? 3 : 9

const NAME = 'large.bin'

void bench(async ({ cleanup, folder }) => {
  const nginx = await startNginx(cleanup, join(folder, 'nginx'))
  if (nginx === undefined) return [skip('B7', 'needs nginx')]
  const daemon = await startDaemon(cleanup, await setUpDaemon(join(folder, 'daemon')))
  const target = { ...daemon, path: `/file/${NAME}` }
  await upload(target, BODY_BYTES)
  await daemon.push(NAME)
  const peerTarget = { ...nginx, path: `/${NAME}` }
  await upload(peerTarget, BODY_BYTES)

  const ours = contender(() => measure(target))
  const peer = contender(() => measure(peerTarget))
  await alternate([ours, peer], { rounds: ROUNDS })
  return [
    judge('B7', {
      measured: toRates(ours.values.map(({ seconds }) => seconds)),
      baseline: toRates(peer.values.map(({ seconds }) => seconds)),
    }),
    ...(usageMissing === undefined
      ? [
          explain('B7', {
            what: 'processor time of one download',
            unit: 'ms',
            measured: ours.values.map(({ cpuSeconds }) => 1000 * cpuSeconds),
            baseline: peer.values.map(({ cpuSeconds }) => 1000 * cpuSeconds),
          }),
        ]
      : []),
  ]
})

async function measure(
  target: BodyTarget & { readonly pid: number },
): Promise<{ readonly seconds: number; readonly cpuSeconds: number }> {
  const before = readCpuSeconds(target.pid)
  const seconds = await timed(() => download(target, BODY_BYTES))
  return { seconds, cpuSeconds: readCpuSeconds(target.pid) - before }
}
