/**
 * What does it cost to send a file as a part of a form instead of by itself? (B5)
 *
 * The form makes the file current, and durable, before it is answered; the plain upload leaves that
 * to its document, which is measured apart.
 * @module
 */

import { join } from 'node:path'
import { bench } from './support/bench.ts'
import { upload, uploadForm } from './support/big-body.ts'
import { setUpDaemon, startDaemon, type Daemon } from './support/daemon.ts'
import { execute } from './support/processes.ts'
import { alternate, BODY_BYTES, contender, isQuick, timed, toRates } from './support/rounds.ts'
import { explain, judge } from './support/row.ts'

const ROUNDS = isQuick ? 3 : 7

const FIELDS = { type: 'File', hash: '0'.repeat(64), text: 'form.bin' }

void bench(async ({ cleanup, folder }) => {
  const daemon = await startDaemon(cleanup, await setUpDaemon(join(folder, 'daemon')))
  const form = contender(() => uploadAsForm(daemon))
  const plain = contender(() => uploadPlainly(daemon))
  await alternate([form, plain], {
    rounds: ROUNDS,
    prepare: async () => void (await execute('sync')),
  })
  const measured = toRates(form.values)
  const withDocument = plain.values.map(({ seconds, documentSeconds }) => seconds + documentSeconds)
  return [
    judge('B5', { measured, baseline: toRates(plain.values.map(({ seconds }) => seconds)) }),
    explain('B5', {
      what: 'the same',
      unit: 'MB/s',
      measured,
      baseline: toRates(withDocument),
      baselineName: 'PUT /file, PUT /Sync.json',
    }),
  ]
})

async function uploadAsForm(daemon: Daemon): Promise<number> {
  const target = { ...daemon, path: '/api/history' }
  const seconds = await timed(() => uploadForm(target, BODY_BYTES, FIELDS))
  await replace(daemon)
  return seconds
}

async function uploadPlainly(
  daemon: Daemon,
): Promise<{ readonly seconds: number; readonly documentSeconds: number }> {
  const target = { ...daemon, path: '/file/plain.bin' }
  const seconds = await timed(() => upload(target, BODY_BYTES))
  const documentSeconds = await timed(() => daemon.push('plain.bin'))
  await replace(daemon)
  return { seconds, documentSeconds }
}

/** Takes the place of the large item, whose bytes are removed then. */
async function replace(daemon: Daemon): Promise<void> {
  await daemon.send('PUT', '/file/small.bin', 'small')
  await daemon.push('small.bin')
}
