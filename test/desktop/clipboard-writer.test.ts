import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Item } from '../../src/core/item.ts'
import { createClipboardWriter } from '../../src/desktop/clipboard-writer.ts'
import type { StoredItem } from '../../src/ports/latest-item.ts'
import type { OfferedContent } from '../../src/ports/system-clipboard.ts'
import { MemoryBlobStore } from '../support/memory-blob-store.ts'

async function* only(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

async function storedItem(item: Partial<Item>): Promise<StoredItem> {
  const whole: Item = {
    type: 'Text',
    text: '',
    dataName: '',
    mediaType: '',
    size: 0,
    contentId: 'blake3v1:00',
    contentHash: 'c0ffee',
    nameHash: '',
    aliases: [],
    activatedAt: 0,
    ...item,
  }
  if (whole.type === 'Text') return { item: whole, blob: undefined }
  return { item: whole, blob: await new MemoryBlobStore().receive(only('x'), { maxBytes: 10 }) }
}

/** A writer whose files are written when the test says so. */
function setUp() {
  const offered: OfferedContent[] = []
  const saving: ((path: string) => void)[] = []
  const writer = createClipboardWriter({
    clipboard: { offer: async (content) => void offered.push(content) },
    received: { save: () => new Promise((resolve) => saving.push(resolve)) },
  })
  const write = (stored: StoredItem): Promise<void> =>
    writer(stored, { kind: 'device', deviceId: 'did_1' })
  const copied = (stored: StoredItem): Promise<void> => writer(stored, { kind: 'clipboard' })
  return { offered, saving, write, copied }
}

describe('what a device pushed', () => {
  it('is offered as what it is: a text, an image, or a file in the received folder', async () => {
    const { offered, saving, write } = setUp()
    await write(await storedItem({ text: 'hello' }))
    const image = await storedItem({ type: 'Image', mediaType: 'image/png' })
    await write(image)
    const file = write(await storedItem({ type: 'Group', dataName: 'a.zip' }))
    saving[0]?.('/received/a.zip')
    await file
    assert.deepEqual(offered, [
      { kind: 'text', text: 'hello' },
      { kind: 'image', mediaType: 'image/png', blob: image.blob },
      { kind: 'files', paths: ['/received/a.zip'] },
    ])
  })

  it('is not offered any more when something newer came while its file was written', async () => {
    const { offered, saving, write } = setUp()
    const file = write(await storedItem({ type: 'File', dataName: 'a' }))
    await write(await storedItem({ text: 'newer' }))
    saving[0]?.('/received/a')
    await file
    assert.deepEqual(offered, [{ kind: 'text', text: 'newer' }])
  })

  it('is not offered over what was copied on the desktop meanwhile', async () => {
    const { offered, saving, write, copied } = setUp()
    const file = write(await storedItem({ type: 'File', dataName: 'a' }))
    await copied(await storedItem({ text: 'mine' }))
    saving[0]?.('/received/a')
    await file
    assert.deepEqual(offered, [])
  })
})
