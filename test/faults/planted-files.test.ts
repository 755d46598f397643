import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createPhone } from '../support/phone.ts'
import { connectTo, formatHead } from './support/raw-device.ts'
import { takeSnapshot } from './support/snapshot.ts'
import { commit, startHeadless, startPaired } from './support/subject.ts'
import { needsProc, vitalsOf } from './support/vitals.ts'

/** More than is looked at before an upload is written. */
const NOT_OURS = 'not ours, and not to be read by anybody'.repeat(5)

/** A daemon, and a file beside its data directory that somebody wants it to touch. */
async function startBesideVictim(t: TestContext) {
  const { daemon, device } = await startPaired(t)
  const victim = join(daemon.folder, 'victim')
  writeFileSync(victim, NOT_OURS)
  chmodSync(victim, 0o644)
  const look = () => {
    const { mode, ino } = lstatSync(victim)
    return [readFileSync(victim, 'utf8'), (mode & 0o777).toString(8), ino]
  }
  return {
    daemon,
    device,
    victim,
    phone: createPhone(device, daemon.ready.gateway),
    vitals: vitalsOf(daemon),
    inData: (...names: readonly string[]): string => join(daemon.folder, 'data', ...names),
    look,
    before: look(),
  }
}

type Place = Awaited<ReturnType<typeof startBesideVictim>>

/** Ways of putting something else where a file of ours is. */
const SWAPS: Readonly<Record<string, (place: Place, path: string) => void>> = {
  'a symbolic link': ({ victim }, path) => {
    unlinkSync(path)
    symlinkSync(victim, path)
  },
  'a hard link': ({ victim }, path) => {
    unlinkSync(path)
    linkSync(victim, path)
  },
  'another file': (_, path) => {
    writeFileSync(`${path}.other`, NOT_OURS)
    renameSync(`${path}.other`, path)
  },
  nothing: (_, path) => unlinkSync(path),
}

describe('a file that is swapped', needsProc, () => {
  for (const [what, swap] of Object.entries(SWAPS)) {
    it(`for ${what} while it is written is gone, and nothing else is taken for it`, async (t) => {
      const place = await startBesideVictim(t)
      const { daemon, device, phone, vitals, inData } = place
      await phone.pushText('before')
      const upload = await connectTo(daemon)
      upload.send(formatHead('PUT /file/a', device, `Content-Length: ${NOT_OURS.length}\r\n`))
      upload.send('x'.repeat(100))
      while (vitals.blobs().length === 0) await phone.fetch('/healthz')
      const [blob = ''] = vitals.blobs()
      swap(place, inData('blobs', blob))
      upload.send('x'.repeat(NOT_OURS.length - 100))
      await upload.read()
      assert.equal(await commit(phone, 'a'), 404)
      assert.equal((await phone.document())['text'], 'before')
      assert.deepEqual(place.look(), place.before)
      await phone.pushFile('File', 'b', Buffer.from('after'))
      assert.equal(String(await phone.download()), 'after')
    })

    it(`for ${what} when it is the item is gone, and nothing else is sent or removed`, async (t) => {
      const place = await startBesideVictim(t)
      const { phone, vitals, inData } = place
      await phone.pushFile('File', 'a', Buffer.from('x'.repeat(NOT_OURS.length)))
      const [blob = ''] = vitals.blobs()
      swap(place, inData('blobs', blob))
      const response = await phone.fetch('/file/a')
      assert.deepEqual(
        [response.status, (await response.text()).includes('not ours')],
        [404, false],
      )
      await phone.pushFile('File', 'b', Buffer.from('after'))
      assert.equal(String(await phone.download()), 'after')
      assert.deepEqual(place.look(), place.before)
    })
  }

  it('for a link when it is a record is never written through', async (t) => {
    const place = await startBesideVictim(t)
    const { daemon, phone, vitals, inData } = place
    for (const name of ['a', 'b']) await phone.fetch(`/file/${name}`, { method: 'PUT', body: name })
    const records = vitals.uploads().filter((name) => name.endsWith('.json'))
    for (const record of records) SWAPS['a symbolic link']?.(place, inData('staging', record))
    await phone.pushFile('File', 'a', Buffer.from('again'))
    assert.equal(await daemon.stop(), 0)
    assert.deepEqual(place.look(), place.before)
  })
})

describe('what others have put into the folders', needsProc, () => {
  it('is not followed, changed or removed, while it runs and when it starts', async (t) => {
    const place = await startBesideVictim(t)
    const { daemon, victim, phone, inData } = place
    await phone.pushFile('File', 'a', Buffer.from('mine'))
    const foreign = [
      'blobs/notes.txt',
      'blobs/.hidden',
      `blobs/${'A'.repeat(32)}`,
      `blobs/${'a'.repeat(31)}`,
      'staging/notes.txt',
      `staging/${'a'.repeat(32)}.json.bak`,
      'notes.txt',
      'item.json.bak',
    ]
    for (const path of foreign) writeFileSync(inData(path), NOT_OURS)
    const links = [
      `blobs/${'b'.repeat(32)}`,
      `staging/${'c'.repeat(32)}.json`,
      'x.0123456789ab.tmp',
    ]
    for (const path of links) symlinkSync(victim, inData(path))
    const wanted = (path: string): boolean => [...foreign, ...links].includes(path)
    const before = takeSnapshot(inData(), wanted)

    for (const name of ['b', 'c']) await phone.pushFile('File', name, Buffer.from(name))
    assert.deepEqual(takeSnapshot(inData(), wanted), before)
    assert.equal(await daemon.stop(), 0)
    const again = await startHeadless(t, { folder: daemon.folder })
    const later = createPhone(place.device, again.ready.gateway)
    assert.equal(String(await later.download()), 'c')
    await later.pushFile('File', 'd', Buffer.from('d'))
    assert.equal(await again.stop(), 0)
    assert.deepEqual(takeSnapshot(inData(), wanted), before)
    assert.deepEqual(place.look(), place.before)
  })

  it('loses only its second name there when it looks like debris of ours', async (t) => {
    const place = await startBesideVictim(t)
    const { daemon, victim, inData } = place
    await daemon.stop()
    const name = 'b'.repeat(32)
    linkSync(victim, inData('blobs', name))
    linkSync(victim, inData('staging', 'x.0123456789ab.tmp'))
    const again = await startHeadless(t, { folder: daemon.folder })
    assert.equal(await again.stop(), 0)
    assert.equal(existsSync(inData('blobs', name)), false)
    assert.deepEqual(place.look(), place.before)
  })
})
