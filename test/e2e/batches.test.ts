/** Several files that a phone sends at once: one item, and nothing of it lost. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { pasteUntil } from '../desktop/x11/support/xclip.ts'
import { startDaemonProcess, type DaemonProcess } from '../support/daemon-process.ts'
import { createPhone, readObject, type BatchFile } from '../support/phone.ts'
import { sha256 } from '../support/hashes.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { groupHashOf, unzip } from '../support/unzip.ts'
import { Xvfb } from '../support/xvfb.ts'

const HEADLESS = { args: ['--headless'] }

const JPEG = '\xff\xd8\xff\xe0'
const photo = (words: string): Buffer => Buffer.from(`${JPEG} ${words}`, 'latin1')

/** As iOS names photos, whatever they are called. */
const FILES: readonly BatchFile[] = [
  ['image.jpg', photo('one')],
  ['image.jpg', photo('two')],
  ['notes.txt', 'a few words'],
  ['image.jpg', photo('three')],
  ['empty.bin', ''],
]

const IN_ZIP = {
  'empty.bin': '',
  'image (2).jpg': `${JPEG} two`,
  'image (3).jpg': `${JPEG} three`,
  'image.jpg': `${JPEG} one`,
  'notes.txt': 'a few words',
}

const newBatch = (): string => randomBytes(16).toString('hex')

describe('files that a phone sends at once', () => {
  // Protocol: many may have one name
  it(
    'are one Group for all, with every one in it, and stay so over deaths of the daemon',
    needs('python3'),
    async (t) => {
      const folder = await temporaryFolder(t)
      const first = await startDaemonProcess(t, { ...HEADLESS, folder, devices: ['Pixel'] })
      const device = await first.pair('Pixel')
      const phone = createPhone(device, first.ready.gateway)
      const batch = newBatch()
      await phone.uploadBatch(batch, FILES.slice(0, 3))
      await first.kill()

      const second = await startDaemonProcess(t, { ...HEADLESS, folder })
      const again = createPhone(device, second.ready.gateway)
      await again.uploadBatch(batch, FILES.slice(3), 4)
      const answer = await again.pushBatch(batch, [1, 2, 3, 4, 5])
      assert.equal(answer.status, 200)
      const { files, folder: place } = await readObject(answer)
      assert.deepEqual([files, place], [5, undefined])
      const { type, dataName } = await again.document()
      assert.equal(type, 'Group')
      assert.match(String(dataName), /^clipboard-\d{8}-\d{6}\.zip$/)
      assert.deepEqual(await unzip(await again.download()), IN_ZIP)
      await second.kill()

      const third = await startDaemonProcess(t, { ...HEADLESS, folder })
      const after = createPhone(device, third.ready.gateway)
      assert.deepEqual(await unzip(await after.download()), IN_ZIP)
      const { hash } = await readObject(await after.fetch('/SyncClipboard.json'))
      assert.equal(hash, groupHashOf(IN_ZIP).toUpperCase())
      // The phone has not heard the answer, and asks again.
      assert.equal((await after.pushBatch(batch, [1, 2, 3, 4, 5])).status, 200)
      assert.deepEqual(await unzip(await after.download()), IN_ZIP)
      // Files that it has not are not said to be in it.
      assert.equal((await after.pushBatch(batch, [1, 2, 3, 4, 5, 6])).status, 404)
      await after.pushFile('File', 'other.bin', Buffer.from('other'))
      assert.equal(await third.stop(), 0)
      // The list and the uploads went with the item.
      assert.equal((await readdir(join(folder, 'data', 'blobs'))).length, 1)
    },
  )

  // Protocol: files that failed or were cancelled do not count
  // Protocol: When one of them is not there, the answer is 404
  it(
    'are those that the document names, of this batch and of this phone',
    needs('python3'),
    async (t) => {
      const daemon = await startDaemonProcess(t, { ...HEADLESS, devices: ['One', 'Two'] })
      const phones = [await daemon.pair('One'), await daemon.pair('Two')].map((device) =>
        createPhone(device, daemon.ready.gateway),
      )
      const [one, two] = phones
      assert.ok(one !== undefined && two !== undefined)
      // The same batch of two phones, and two tabs of one.
      const [shared, tab] = [newBatch(), newBatch()]
      await Promise.all([
        one.uploadBatch(shared, [
          ['a', 'of one'],
          ['b', 'cancelled'],
          ['a', 'more of one'],
        ]),
        two.uploadBatch(shared, [
          ['a', 'of two'],
          ['b', 'of two'],
        ]),
        one.uploadBatch(tab, [
          ['a', 'of the tab'],
          ['a', 'more of the tab'],
        ]),
      ])
      assert.equal((await two.pushBatch(shared, [1, 2])).status, 200)
      assert.deepEqual(await unzip(await one.download()), { a: 'of two', b: 'of two' })
      assert.equal((await one.pushBatch(tab, [2, 1])).status, 200)
      const tabbed = { a: 'more of the tab', 'a (2)': 'of the tab' }
      assert.deepEqual(await unzip(await one.download()), tabbed)
      // Nothing is taken when something is missing.
      const missing = await one.pushBatch(shared, [1, 3, 4])
      assert.deepEqual(
        [missing.status, (await readObject(missing))['code']],
        [404, 'NOTHING_STAGED'],
      )
      assert.deepEqual(await unzip(await one.download()), tabbed)
      assert.equal((await one.pushBatch(shared, [1, 3])).status, 200)
      const wanted = { a: 'of one', 'a (2)': 'more of one' }
      assert.deepEqual(await unzip(await one.download()), wanted)
    },
  )
})

describe('a document of a batch of which there is an item', () => {
  // Protocol: When one of them is not there, the answer is 404
  it('is 404 unless it is the one that made it, also after a restart', async (t) => {
    const folder = await temporaryFolder(t)
    const options = { ...HEADLESS, folder, devices: ['One', 'Two'] }
    const first = await startDaemonProcess(t, options)
    const devices = [await first.pair('One'), await first.pair('Two')] as const
    const phone = createPhone(devices[0], first.ready.gateway)
    const [single, group] = [newBatch(), newBatch()]
    const asFile = { type: 'File', dataName: '' }
    await phone.uploadBatch(single, FILES.slice(0, 3))
    const of = (number: number, by = phone) => by.pushBatch(single, [number], asFile)
    const statuses = [(await of(1)).status, (await of(2)).status, (await of(3)).status]
    assert.deepEqual(statuses, [200, 404, 404])
    assert.deepEqual(await phone.download(), photo('one'))

    const asks = async (daemon: DaemonProcess): Promise<void> => {
      const [one, two] = devices.map((device) => createPhone(device, daemon.ready.gateway))
      assert.ok(one !== undefined && two !== undefined)
      for (const [by, numbers] of [
        [one, [3, 4]],
        [one, [2, 1]],
        [two, [1, 2]],
        [two, [3, 4]],
      ] as const) {
        const answer = await by.pushBatch(group, numbers)
        assert.deepEqual(
          [answer.status, (await readObject(answer))['code']],
          [404, 'NOTHING_STAGED'],
          String(numbers),
        )
      }
      assert.equal((await one.pushBatch(group, [1, 2])).status, 200)
    }
    await phone.uploadBatch(group, FILES.slice(0, 2))
    assert.equal((await phone.pushBatch(group, [1, 2])).status, 200)
    // One of two is here.
    await phone.uploadBatch(group, FILES.slice(2, 3), 3)
    await asks(first)
    assert.equal(await first.stop(), 0)
    const second = await startDaemonProcess(t, { ...HEADLESS, folder })
    await asks(second)
    assert.equal(await second.stop(), 0)

    // Earlier versions kept the batch alone.
    const path = join(folder, 'data', 'item.json')
    const kept = JSON.parse(await readFile(path, 'utf8'))
    delete kept.binary.item.madeOf
    await writeFile(path, `${JSON.stringify(kept)}\n`)
    const third = await startDaemonProcess(t, { ...HEADLESS, folder })
    const after = createPhone(devices[0], third.ready.gateway)
    assert.equal((await after.pushBatch(group, [1, 2])).status, 200)
    assert.equal((await after.pushBatch(group, [1, 2, 3])).status, 404)
  })
})

describe('on a desktop, files that a phone sends at once', needs('Xvfb', 'xclip'), () => {
  // Protocol: what is pasted there, all by one paste
  it('all lie in the folder of received files, and one paste pastes all', async (t) => {
    const { display } = await Xvfb.start(t)
    const daemon = await startDaemonProcess(t, { devices: ['Phone'], env: { DISPLAY: display } })
    const phone = await daemon.phone()
    const received = join(daemon.folder, 'received')
    // One is there already, as of yesterday.
    const older = newBatch()
    await phone.uploadBatch(older, [['image.jpg', photo('older')]])
    const single = await phone.pushBatch(older, [1], { type: 'File', dataName: 'image.jpg' })
    assert.deepEqual((await readObject(single))['folder'], 'received')
    assert.deepEqual(await readFile(join(received, 'image.jpg')), photo('older'))
    await pasteUntil(display, 'image/jpeg', photo('older'))

    const batch = newBatch()
    await phone.uploadBatch(batch, FILES)
    const answer = await readObject(await phone.pushBatch(batch, [1, 2, 3, 4, 5]))
    assert.deepEqual(
      [answer['files'], answer['folder'], answer['clipboard']],
      [5, 'received', true],
    )
    const names = ['image (2).jpg', 'image (3).jpg', 'notes.txt', 'image (4).jpg', 'empty.bin']
    const paths = names.map((name) => join(received, name))
    const uris = paths.map((path) => `${pathToFileURL(path)}\r\n`).join('')
    await pasteUntil(display, 'text/uri-list', uris)
    for (const [index, [, bytes]] of FILES.entries()) {
      assert.deepEqual(await readFile(paths[index] ?? ''), Buffer.from(bytes))
    }
    assert.deepEqual(await unzip(await phone.download()), IN_ZIP)
    // What an app pushes is on the clipboard only, as before.
    await phone.pushFile('Image', 'clipboard.jpg', photo('of an app'))
    await pasteUntil(display, 'image/jpeg', photo('of an app'))
    assert.deepEqual((await readdir(received)).sort(), ['image.jpg', ...names].sort())
  })

  // Protocol: when they are there
  it('say where they are only when they are there', async (t) => {
    const { display } = await Xvfb.start(t)
    const folder = await temporaryFolder(t)
    // No folder can be made here.
    await writeFile(join(folder, 'received'), '')
    const options = { devices: ['Phone'], env: { DISPLAY: display } }
    const daemon = await startDaemonProcess(t, { ...options, folder })
    const phone = await daemon.phone()
    const batch = newBatch()
    await phone.uploadBatch(batch, FILES)
    const answer = await readObject(await phone.pushBatch(batch, [1, 2]))
    assert.deepEqual(
      [answer['files'], answer['folder'], answer['clipboard']],
      [2, undefined, undefined],
    )
    assert.match(daemon.stderr(), /Cannot save what was sent/)
    assert.equal((await phone.document())['type'], 'Group')
  })
})

describe('a Group that another program made', () => {
  const zip = readFileSync(new URL('../../fixtures/clients/samples/two-files.zip', import.meta.url))
  const hash = groupHashOf({ 'alpha.txt': 'alpha\n', 'notes/': '', 'notes/beta.txt': 'beta\n' })
  const wrong = sha256('not what is in it')
  const DESKTOP = { 'User-Agent': 'SyncClipboard.Desktop.Default3.2.0' }

  // Protocol: Of an archive that came the daemon finds this hash out itself
  it('has the hash of its files, whatever its sender told, and keeps it', async (t) => {
    const folder = await temporaryFolder(t)
    const options = { ...HEADLESS, folder, devices: ['Pixel', 'iPad'] }
    const first = await startDaemonProcess(t, options)
    const [device, other] = [await first.pair('Pixel'), await first.pair('iPad')]
    const phone = createPhone(device, first.ready.gateway)
    const push = async (told: string, by = phone): Promise<void> => {
      const body = JSON.stringify({ type: 'Group', dataName: 'two.zip', hasData: true, hash: told })
      const answer = await by.fetch('/SyncClipboard.json', { method: 'PUT', body })
      assert.equal(answer.status, 200)
    }
    const reads = async (by = phone): Promise<readonly unknown[]> => {
      const document = await readObject(await by.fetch('/SyncClipboard.json', { headers: DESKTOP }))
      const path = `/api/history/Group-${hash.toUpperCase()}`
      const record = await readObject(await by.fetch(path, { headers: DESKTOP }))
      return [document['type'], document['hash'], record['hash']]
    }
    const right = ['Group', hash.toUpperCase(), hash.toUpperCase()]
    for (const told of ['', wrong, sha256(zip), 'D41D8CD98F00B204']) {
      await phone.pushText(`before ${told}`)
      await phone.fetch('/file/two.zip', { method: 'PUT', body: zip })
      await push(told)
      assert.deepEqual(await reads(), right, told)
    }
    // Without its bytes, under a hash that it is known by.
    await phone.pushText('in between')
    await push(wrong)
    assert.deepEqual(await reads(), right)
    const form = new FormData()
    for (const [name, value] of Object.entries({ type: 'Group', hash: wrong, hasData: 'true' }))
      form.set(name, value)
    form.set('data', new File([zip], 'posted.zip'))
    await phone.pushText('once more')
    assert.equal((await phone.fetch('/api/history', { method: 'POST', body: form })).status, 200)
    assert.deepEqual(await reads(), right)
    await first.kill()

    const second = await startDaemonProcess(t, { ...HEADLESS, folder })
    const after = createPhone(other, second.ready.gateway)
    assert.deepEqual(await reads(after), right)
    await after.pushText('later')
    await push(wrong, after)
    assert.deepEqual(await reads(after), right)
    assert.deepEqual(await after.download(), zip)
    assert.equal(await second.stop(), 0)
  })
})
