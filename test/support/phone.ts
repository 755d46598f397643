/** A phone-like client: nothing but `fetch` and Basic authentication. @module */

import assert from 'node:assert/strict'
import type { PairedDevice } from './daemon-process.ts'

export interface Phone {
  /** The header of its credentials. */
  readonly authorization: string
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** The current document. */
  document(): Promise<Record<string, unknown>>
  /** Reads documents until one has these fields; the time limit of the test ends it. */
  reads(wanted: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>
  /** The bytes of the current item. */
  download(): Promise<Buffer>
  pushText(text: string): Promise<void>
  /** Uploads, then describes. */
  pushFile(type: 'Image' | 'File' | 'Group', dataName: string, bytes: Uint8Array): Promise<void>
  /** Uploads files of a batch, numbered from `first` on. */
  uploadBatch(batch: string, files: readonly BatchFile[], first?: number): Promise<void>
  /** Makes one item of uploads of a batch. @returns The answer. */
  pushBatch(batch: string, members: readonly number[], more?: object): Promise<Response>
}

/** The name of a file, and its bytes. */
export type BatchFile = readonly [string, string | Uint8Array]

/** A phone that uses the credentials of a paired device. */
export function createPhone(
  { username, password }: Pick<PairedDevice, 'username' | 'password'>,
  gateway: string,
): Phone {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

  const phone: Phone = {
    authorization,

    fetch: (path, init = {}) =>
      fetch(`${gateway}${path}`, { ...init, headers: { authorization, ...init.headers } }),

    async document() {
      const response = await phone.fetch('/Sync.json')
      assert.equal(response.status, 200)
      return readObject(response)
    },

    async reads(wanted) {
      for (;;) {
        const document = await phone.document()
        if (Object.entries(wanted).every(([key, value]) => document[key] === value)) return document
      }
    },

    async download() {
      const { dataName } = await phone.document()
      const response = await phone.fetch(`/file/${encodeURIComponent(String(dataName))}`)
      assert.equal(response.status, 200)
      return Buffer.from(await response.arrayBuffer())
    },

    async pushText(text) {
      await put('/Sync.json', JSON.stringify({ type: 'Text', text }))
    },

    async pushFile(type, dataName, bytes) {
      await put(`/file/${encodeURIComponent(dataName)}`, bytes)
      await put('/Sync.json', JSON.stringify({ type, dataName, hasData: true }))
    },

    async uploadBatch(batch, files, first = 1) {
      for (const [index, [name, bytes]] of files.entries()) {
        const headers = { 'X-Clipgate-Batch': `${batch}/${first + index}` }
        await put(`/file/${encodeURIComponent(name)}`, bytes, headers)
      }
    },

    pushBatch(batch, members, more = {}) {
      const body = JSON.stringify({ type: 'Group', hasData: true, batch, members, ...more })
      return phone.fetch('/Sync.json', { method: 'PUT', body })
    },
  }

  async function put(path: string, body: string | Uint8Array, headers = {}): Promise<void> {
    const response = await phone.fetch(path, { method: 'PUT', body, headers })
    assert.equal(response.status, 200, await response.text())
  }

  return phone
}

/** The JSON object in a response. */
export async function readObject(response: Response): Promise<Record<string, unknown>> {
  const value: unknown = await response.json()
  assert.ok(typeof value === 'object' && value !== null)
  return { ...value }
}
