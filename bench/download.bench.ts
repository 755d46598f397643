/**
 * How fast does a large file go out, beside nginx with `sendfile`? (B7)
 *
 * @module
 */

import { join } from 'node:path'
import { download, upload } from './support/big-body.ts'
import { bench } from './support/bench.ts'
import { setUpDaemon, startDaemon } from './support/daemon.ts'
import { startNginx } from './support/nginx.ts'
import {
  alternate, BODY_BYTES, contender, isQuick, timed, toRates,
} from './support/rounds.ts'
import { judge, skip } from './support/row.ts'

const ROUNDS = isQuick ? 3 : 9

const NAME = 'large.bin'

void bench(async ({ cleanup, folder }) => {
  const nginx = await startNginx(cleanup, join(folder, 'nginx'))
  if (nginx === undefined) return [skip('B7', 'needs nginx')]
  const daemon = await startDaemon(cleanup, await setUpDaemon(join(folder, 'daemon')))
  const target = { ...daemon, path: `/file/${NAME}` }
  await upload(target, BODY_BYTES)
  await daemon.push(NAME)
  await upload({ port: nginx.port, path: `/${NAME}` }, BODY_BYTES)

  const ours = contender(() => timed(() => download(target, BODY_BYTES)))
  const peerTarget = { port: nginx.port, path: `/${NAME}` }
  const peer = contender(() => timed(() => download(peerTarget, BODY_BYTES)))
  await alternate([ours, peer], { rounds: ROUNDS })
  return [judge('B7', { measured: toRates(ours.values), baseline: toRates(peer.values) })]
})
