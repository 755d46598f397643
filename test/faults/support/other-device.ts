/**
 * A device that uses a daemon as devices do, and takes the time of each of its operations.
 * @module
 */

import assert from 'node:assert/strict'

export const OPERATIONS = ['read', 'push', 'upload', 'apply', 'download'] as const

export type Operation = (typeof OPERATIONS)[number]

/** Milliseconds. */
export type OperationTimes = Readonly<Record<Operation, number>>

export interface OtherDevice {
  readonly gateway: string
  readonly authorization: string
}

const TEXT_BYTES = 100_000
const FILE_BYTES: number = 8 * 2 ** 20

/**
 * Reads the document, pushes a text that is not short, uploads a file, makes it the item, and
 * downloads it.
 *
 * @param mark Makes this use another one than those before.
 * @throws When one of them is not answered as it should.
 */
export async function useOnce(device: OtherDevice, mark: string): Promise<OperationTimes> {
  const times: Partial<Record<Operation, number>> = {}
  const bytes = Buffer.alloc(FILE_BYTES, mark)
  const dataName = `other-${mark}.bin`
  const text = JSON.stringify({ type: 'Text', text: mark.padEnd(TEXT_BYTES, '.') })
  const item = JSON.stringify({ type: 'File', dataName, hasData: true })
  await time('read', '/Sync.json')
  await time('push', '/Sync.json', text)
  await time('upload', `/file/${dataName}`, bytes)
  await time('apply', '/Sync.json', item)
  const downloaded = await time('download', `/file/${dataName}`)
  assert.ok(downloaded.equals(bytes), 'the bytes are others')
  const { read = 0, push = 0, upload = 0, apply = 0, download = 0 } = times
  return { read, push, upload, apply, download }

  async function time(name: Operation, path: string, body?: string | Uint8Array): Promise<Buffer> {
    const start = performance.now()
    const response = await fetch(`${device.gateway}${path}`, {
      method: body === undefined ? 'GET' : 'PUT',
      headers: { authorization: device.authorization },
      ...(body === undefined ? {} : { body }),
    })
    const answer = Buffer.from(await response.arrayBuffer())
    times[name] = performance.now() - start
    assert.equal(response.status, 200, `${name}: ${String(answer.subarray(0, 500))}`)
    return answer
  }
}
