/** What every {@link StagingArea} does. @module */

import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type {
  StagedUpload,
  StagingArea,
  UploadName,
  UploadSource,
} from '../../src/ports/staging-area.ts'
import { brokenStream, readText, streamOf } from './byte-streams.ts'
import { defer } from './defer.ts'

export interface OpenedStagingArea {
  readonly staging: StagingArea
  /** How many blobs take room. */
  count(): Promise<number>
}

export interface StagingAreaOptions {
  readonly maxFileBytes: number
}

type UploadHeader = UploadSource & UploadName

/** What a test has to say about an upload. */
export function header(dataName: string, more: Partial<UploadHeader> = {}): UploadHeader {
  return { deviceId: 'did_a', dataName, mediaType: 'text/plain', declaredSize: undefined, ...more }
}

/** Receives an upload and files it, as `PUT /file/{dataName}` does. */
export async function stageUpload(
  staging: StagingArea,
  header: UploadHeader,
  bytes: AsyncIterable<Uint8Array>,
): Promise<StagedUpload> {
  const upload = await staging.receive(header, bytes)
  return upload.stage(header)
}

/** Describes the areas that `open` makes; each is empty. */
export function describeStagingArea(
  name: string,
  open: (t: TestContext, options: StagingAreaOptions) => Promise<OpenedStagingArea>,
): void {
  describe(name, () => {
    const openArea = (t: TestContext) => open(t, { maxFileBytes: 100 })

    function stage(staging: StagingArea, dataName: string, text: string): Promise<StagedUpload> {
      return stageUpload(staging, header(dataName), streamOf(text))
    }

    it('hands over what was staged, to the device that staged it', async (t) => {
      const { staging } = await openArea(t)
      const png = header('a.txt', { mediaType: 'image/png' })
      const staged = await stageUpload(staging, png, streamOf('hello'))
      assert.equal(await readText(staged.blob), 'hello')
      assert.equal(staging.take('did_b', 'a.txt'), undefined)
      assert.equal(staging.take('did_a', 'b.txt'), undefined)
      const taken = staging.take('did_a', 'a.txt')
      assert.equal(taken?.deviceId, 'did_a')
      assert.equal(taken?.dataName, 'a.txt')
      assert.equal(taken?.mediaType, 'image/png')
      assert.equal(taken && (await readText(taken.blob)), 'hello')
    })

    // Protocol: no other document takes it
    it('hands over uploads of a batch by their numbers, all that are asked for or none', async (t) => {
      const { staging, count } = await openArea(t)
      const [batch, another] = ['ab'.repeat(16), 'cd'.repeat(16)]
      const stageMember = (number: number, text: string, of = batch) =>
        stageUpload(staging, header('a.txt', { member: { batch: of, number } }), streamOf(text))
      for (const [index, text] of ['one', 'two', 'three', 'two again'].entries()) {
        await stageMember(index === 3 ? 2 : index + 1, text)
      }
      await stageMember(1, 'another', another)
      assert.equal(await count(), 4)
      assert.equal(staging.take('did_a', 'a.txt'), undefined)
      assert.equal(staging.takeBatch('did_b', batch, [1]), undefined)
      assert.equal(staging.takeBatch('did_a', batch, [1, 4]), undefined)
      const taken = staging.takeBatch('did_a', batch, [3, 2])
      const texts = await Promise.all((taken ?? []).map(({ blob }) => readText(blob)))
      assert.deepEqual(texts, ['three', 'two again'])
      taken?.[0]?.giveBack()
      await taken?.[1]?.discard()
      // What is not asked for is given up, since nobody can name it any more.
      assert.equal(staging.takeBatch('did_a', batch, [1]), undefined)
      assert.equal(staging.takeBatch('did_a', batch, [3])?.length, 1)
      assert.equal(staging.takeBatch('did_a', another, [1])?.length, 1)
      while ((await count()) > 2) continue
    })

    // Protocol: the newest complete upload wins
    it('keeps the newest upload of a name, and only that one', async (t) => {
      const { staging, count } = await openArea(t)
      await stage(staging, 'a.txt', 'first')
      await stage(staging, 'a.txt', 'second')
      const taken = staging.take('did_a', 'a.txt')
      assert.equal(taken && (await readText(taken.blob)), 'second')
      assert.equal(await count(), 1)
    })

    it('keeps one whole upload of several that come at once', async (t) => {
      const { staging, count } = await openArea(t)
      const texts = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(90))
      await Promise.all(texts.map((text) => stage(staging, 'a.txt', text)))
      const taken = staging.take('did_a', 'a.txt')
      assert.equal(texts.includes((taken && (await readText(taken.blob))) ?? ''), true)
      assert.equal(await count(), 1)
    })

    it('does not touch an earlier upload when a later one fails', async (t) => {
      const { staging, count } = await openArea(t)
      await stage(staging, 'a.txt', 'first')
      const error = new Error('the client is gone')
      await assert.rejects(stageUpload(staging, header('a.txt'), brokenStream(error, 'sec')), error)
      const short = stageUpload(staging, header('a.txt', { declaredSize: 7 }), streamOf('second'))
      await assert.rejects(short, { code: 'UPLOAD_INCOMPLETE' })
      await assert.rejects(stage(staging, 'a.txt', 'x'.repeat(101)), { code: 'UPLOAD_TOO_LARGE' })
      assert.equal(await count(), 1)
      const taken = staging.take('did_a', 'a.txt')
      assert.equal(taken && (await readText(taken.blob)), 'first')
    })

    it('binds what waits under a name, or under any, and nothing that comes later', async (t) => {
      const { staging } = await openArea(t)
      const knownAs = 'ab'.repeat(32)
      await stage(staging, 'a.txt', 'a')
      await stage(staging, 'b.txt', 'b')
      await stageUpload(staging, header('c.txt', { knownAs }), streamOf('c'))
      await stageUpload(staging, header('a.txt', { deviceId: 'did_b' }), streamOf('other'))
      const known = (deviceId = 'did_a') =>
        ['a.txt', 'b.txt', 'c.txt'].map((name) => staging.staged(deviceId, name)?.knownAs)
      await staging.bind('did_a', 'a.txt')
      assert.deepEqual(known(), ['', undefined, knownAs])
      await staging.bind('did_a')
      assert.deepEqual(known(), ['', '', knownAs])
      assert.deepEqual(known('did_b'), [undefined, undefined, undefined])
      const taken = staging.take('did_a', 'a.txt')
      assert.equal(taken?.knownAs, '')
      taken?.giveBack()
      assert.equal(staging.staged('did_a', 'a.txt')?.knownAs, '')
      await stage(staging, 'a.txt', 'a again')
      assert.deepEqual(known(), [undefined, '', knownAs])
    })

    it('gives an upload to nobody else until it is given back', async (t) => {
      const { staging } = await openArea(t)
      await stage(staging, 'a.txt', 'hello')
      const taken = staging.take('did_a', 'a.txt')
      assert.equal(staging.take('did_a', 'a.txt'), undefined)
      taken?.giveBack()
      const again = staging.take('did_a', 'a.txt')
      assert.equal(again && (await readText(again.blob)), 'hello')
    })

    it('prefers a newer upload to one that is given back', async (t) => {
      const { staging } = await openArea(t)
      const first = await stage(staging, 'a.txt', 'first')
      const taken = staging.take('did_a', 'a.txt')
      await stage(staging, 'a.txt', 'second')
      assert.equal(await readText(first.blob), 'first')
      taken?.giveBack()
      const again = staging.take('did_a', 'a.txt')
      assert.equal(again && (await readText(again.blob)), 'second')
      assert.equal(staging.take('did_a', 'a.txt'), undefined)
    })

    it('leaves the bytes to their new owner when an upload is released', async (t) => {
      const { staging, count } = await openArea(t)
      const { blob } = await stage(staging, 'a.txt', 'hello')
      await staging.take('did_a', 'a.txt')?.release()
      assert.equal(await readText(blob), 'hello')
      assert.equal(await count(), 1)
      assert.equal(staging.take('did_a', 'a.txt'), undefined)
    })

    it('removes the bytes when an upload is discarded', async (t) => {
      const { staging, count } = await openArea(t)
      const { blob } = await stage(staging, 'a.txt', 'hello')
      await staging.take('did_a', 'a.txt')?.discard()
      await assert.rejects(blob.open(), { code: 'BLOB_GONE' })
      assert.equal(await count(), 0)
    })

    describe('what comes before its name', () => {
      const source = { deviceId: 'did_a', declaredSize: undefined }
      const name = { dataName: 'a.txt', mediaType: 'image/png' }

      it('waits for its document once it is named', async (t) => {
        const { staging, count } = await openArea(t)
        await stage(staging, 'a.txt', 'earlier')
        const received = await staging.receive(source, streamOf('hello'))
        assert.equal(await readText(received.blob), 'hello')
        assert.equal(await count(), 2)
        const staged = await received.stage(name)
        assert.deepEqual([staged.deviceId, staged.dataName], ['did_a', 'a.txt'])
        const taken = staging.take('did_a', 'a.txt')
        assert.equal(taken?.mediaType, 'image/png')
        assert.equal(taken && (await readText(taken.blob)), 'hello')
        assert.equal(await count(), 1)
      })

      it('is nothing that a document could take until then', async (t) => {
        const { staging } = await openArea(t)
        const received = await staging.receive(source, streamOf('hello'))
        assert.equal(staging.take('did_a', ''), undefined)
        assert.equal(staging.take('did_a', 'a.txt'), undefined)
        await received.discard()
      })

      it('belongs to its new owner when it is released', async (t) => {
        const { staging, count } = await openArea(t)
        const received = await staging.receive(source, streamOf('hello'))
        await received.release()
        assert.equal(await readText(received.blob), 'hello')
        assert.equal(await count(), 1)
      })

      it('is gone when it is discarded', async (t) => {
        const { staging, count } = await openArea(t)
        const received = await staging.receive(source, streamOf('hello'))
        await received.discard()
        await assert.rejects(received.blob.open(), { code: 'BLOB_GONE' })
        assert.equal(await count(), 0)
      })

      it('leaves nothing when it fails', async (t) => {
        const { staging, count } = await openArea(t)
        const error = new Error('the client is gone')
        await assert.rejects(staging.receive(source, brokenStream(error, 'he')), error)
        const large = staging.receive(source, streamOf('x'.repeat(101)))
        await assert.rejects(large, { code: 'UPLOAD_TOO_LARGE' })
        const short = staging.receive({ ...source, declaredSize: 6 }, streamOf('hello'))
        await assert.rejects(short, { code: 'UPLOAD_INCOMPLETE' })
        assert.equal(await count(), 0)
      })
    })

    describe('a device that is dropped', () => {
      const source = { deviceId: 'did_a', declaredSize: undefined }
      const name = { dataName: 'a.txt', mediaType: 'text/plain' }

      it('has nothing staged any more, and the others still have theirs', async (t) => {
        const { staging, count } = await openArea(t)
        await stage(staging, 'a.txt', 'hello')
        await stage(staging, 'b.txt', 'hello')
        await stageUpload(staging, header('a.txt', { deviceId: 'did_b' }), streamOf('other'))
        const dropped = staging.drop('did_a')
        assert.equal(staging.take('did_a', 'a.txt'), undefined)
        await dropped
        assert.equal(await count(), 1)
        const taken = staging.take('did_b', 'a.txt')
        assert.equal(taken && (await readText(taken.blob)), 'other')
      })

      it('cannot stage what it was sending, and nothing of that is left', async (t) => {
        const { staging, count } = await openArea(t)
        const begun = defer<void>()
        const rest = defer<void>()
        const upload = stageUpload(
          staging,
          header('a.txt'),
          (async function* () {
            yield Buffer.from('hel')
            begun.resolve()
            await rest.promise
            yield Buffer.from('lo')
          })(),
        )
        const refused = assert.rejects(upload, { code: 'CREDENTIAL_GONE' })
        await begun.promise
        const dropped = staging.drop('did_a')
        rest.resolve()
        await dropped
        assert.equal(await count(), 0)
        await refused
        assert.equal(staging.take('did_a', 'a.txt'), undefined)
      })

      it('cannot stage what was received already', async (t) => {
        const { staging, count } = await openArea(t)
        const received = await staging.receive(source, streamOf('hello'))
        const dropped = staging.drop('did_a')
        await assert.rejects(received.stage(name), { code: 'CREDENTIAL_GONE' })
        await dropped
        assert.equal(await count(), 0)
      })

      it('gets back nothing of what was taken', async (t) => {
        const { staging, count } = await openArea(t)
        await stage(staging, 'a.txt', 'hello')
        const taken = staging.take('did_a', 'a.txt')
        const dropped = staging.drop('did_a')
        taken?.giveBack()
        await dropped
        assert.equal(await count(), 0)
        assert.equal(staging.take('did_a', 'a.txt'), undefined)
      })

      it('is waited for until what was taken has ended', async (t) => {
        const { staging } = await openArea(t)
        await stage(staging, 'a.txt', 'hello')
        const taken = staging.take('did_a', 'a.txt')
        const order: string[] = []
        const dropped = staging.drop('did_a').then(() => order.push('dropped'))
        await stage(staging, 'b.txt', 'some time later')
        order.push('released')
        await taken?.release()
        await dropped
        assert.deepEqual(order, ['released', 'dropped'])
      })
    })
  })
}
