/**
 * How fast does an upload get to the disk, hashed twice, beside nginx and bare Node? (B3, B4)
 *
 * Each round writes a fresh name, and the disk is idle before it begins. What the daemon does to
 * make the bytes durable before its answer is part of its figure; what is left to be done when the
 * document comes is a figure of its own.
 * @module
 */

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { upload } from './support/big-body.ts'
import { bench } from './support/bench.ts'
import { setUpDaemon, startDaemon, type Daemon } from './support/daemon.ts'
import { startNginx, type Nginx } from './support/nginx.ts'
import { execute, findProgram, startBaseline } from './support/processes.ts'
import { alternate, BODY_BYTES, contender, isQuick, timed, toRates } from './support/rounds.ts'
import { explain, judge, skip } from './support/row.ts'

const ROUNDS = isQuick ? 3 : 7

const HASH_PROGRAMS = ['sha256sum', 'b3sum']

let names = 0

void bench(async ({ cleanup, folder }) => {
  const daemon = await startDaemon(cleanup, await setUpDaemon(join(folder, 'daemon')))
  const sinkFolder = join(folder, 'sink')
  await mkdir(sinkFolder)
  const sink = await startBaseline(cleanup, 'sink-server', sinkFolder)
  const nginx = await startNginx(cleanup, join(folder, 'nginx'))

  const ours = contender(() => uploadToDaemon(daemon))
  const bare = contender(() => uploadTo(sink.port, sinkFolder))
  const peer = contender(async () => (nginx === undefined ? undefined : uploadToNginx(nginx)))
  await alternate([ours, bare, peer], {
    rounds: ROUNDS,
    prepare: async () => void (await execute('sync')),
  })

  const measured = toRates(ours.values.map(({ seconds }) => seconds))
  const peerRounds = peer.values.filter((round) => round !== undefined)
  const peerAlone = toRates(peerRounds.map(({ seconds }) => seconds))
  const peerWithHashes = toRates(
    peerRounds.map(({ seconds, hashSeconds }) => seconds + hashSeconds),
  )
  const missing = ['nginx', ...HASH_PROGRAMS].filter((name) => findProgram(name) === undefined)
  return [
    missing.length > 0
      ? skip('B3a', `needs ${missing.join(', ')}`)
      : judge('B3a', { measured, baseline: peerWithHashes }),
    nginx === undefined
      ? skip('B3b', 'needs nginx')
      : judge('B3b', { measured, baseline: peerAlone }),
    judge('B4', { measured, baseline: toRates(bare.values) }),
    explain('B4', {
      what: 'then PUT /Sync.json, which makes it durable',
      unit: 'ms',
      measured: ours.values.map(({ documentSeconds }) => 1000 * documentSeconds),
    }),
  ]
})

async function uploadToDaemon(
  daemon: Daemon,
): Promise<{ readonly seconds: number; readonly documentSeconds: number }> {
  const name = nextName()
  const target = { ...daemon, path: `/file/${name}` }
  const seconds = await timed(() => upload(target, BODY_BYTES))
  const documentSeconds = await timed(() => daemon.push(name))
  // Takes the place of the large one, whose bytes are removed then.
  await daemon.send('PUT', '/file/small.bin', 'small')
  await daemon.push('small.bin')
  return { seconds, documentSeconds }
}

/** @param folder Where it lands, to be removed from. */
async function uploadTo(port: number, folder: string): Promise<number> {
  const name = nextName()
  const seconds = await timed(() => upload({ port, path: `/${name}` }, BODY_BYTES))
  await rm(join(folder, name))
  return seconds
}

async function uploadToNginx({
  port,
  files,
}: Nginx): Promise<{ readonly seconds: number; readonly hashSeconds: number }> {
  const name = nextName()
  const path = join(files, name)
  const seconds = await timed(() => upload({ port, path: `/${name}` }, BODY_BYTES))
  const programs = HASH_PROGRAMS.filter((program) => findProgram(program) !== undefined)
  const hashSeconds = await timed(async () => {
    for (const program of programs) await execute(program, [path])
  })
  await rm(path)
  return { seconds, hashSeconds }
}

function nextName(): string {
  return `upload-${names++}.bin`
}
