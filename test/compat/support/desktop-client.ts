/**
 * The desktop program of the reference project in its default account, step by step: it connects to
 * the message hub with the library of that hub, looks whether the server is there, pushes what was
 * copied, and takes what it hears of.
 * @module
 */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { HubConnectionBuilder, LogLevel, type HubConnection } from '@microsoft/signalr'
import type { PairedDevice } from '../../support/daemon-process.ts'
import { sha256 } from '../../support/hashes.ts'
import { Mailbox } from '../../support/mailbox.ts'
import { createPhone, readObject, type Phone } from '../../support/phone.ts'
import { groupHashOf } from '../../support/unzip.ts'

/** Characters of a text that a document holds; longer ones go as files. */
const INLINE_LENGTH = 10_240

const BOUNDARY = '7d0a3e5c-2b9f-4c61-9a55-0f2f6f1c1f10'

type ItemType = 'Text' | 'Image' | 'File' | 'Group'

/** What was copied. */
export interface Copied {
  readonly type: ItemType
  /** Upper-case hex, by the rule of the type. */
  readonly hash: string
  readonly text: string
  /** Empty when the text is all there is. */
  readonly dataName: string
  readonly bytes: Buffer
}

/** What a program has taken over. */
export interface Taken {
  readonly type: ItemType
  readonly hash: string
  readonly text: string
  /** `undefined` for a text that the document holds. */
  readonly bytes: Buffer | undefined
}

export function copiedText(text: string): Copied {
  const dataName = text.length > INLINE_LENGTH ? `${sha256(text)}.txt` : ''
  return {
    type: 'Text',
    hash: sha256(text).toUpperCase(),
    text,
    dataName,
    bytes: Buffer.from(text),
  }
}

export function copiedFile(type: 'Image' | 'File', dataName: string, bytes: Buffer): Copied {
  return { type, hash: boundToName(dataName, bytes), text: dataName, dataName, bytes }
}

/** @param entries What is in it: its hash is of that. */
export function copiedGroup(
  dataName: string,
  bytes: Buffer,
  entries: Readonly<Record<string, string>>,
): Copied {
  const hash = groupHashOf(entries).toUpperCase()
  return { type: 'Group', hash, text: 'a.txt\nb.txt', dataName, bytes }
}

function boundToName(dataName: string, bytes: Buffer): string {
  return sha256(`${dataName}|${sha256(bytes).toUpperCase()}`).toUpperCase()
}

/** A running program, connected. */
export class DesktopClient {
  /** Items that were announced and that it has taken, its own ones as well. */
  readonly taken = new Mailbox<Promise<Taken>>()
  readonly reconnected = new Mailbox<void>()
  readonly #phone: Phone
  #records: readonly Record<string, unknown>[] = []

  private constructor(phone: Phone, hub: HubConnection) {
    this.#phone = phone
    hub.on('RemoteHistoryChanged', (record) => {
      this.#records = [...this.#records, record]
    })
    hub.on('RemoteProfileChanged', (document) => {
      this.taken.put(this.#take(document))
    })
    hub.onreconnected(() => this.reconnected.put())
  }

  /** Starts a program whose account is that of a paired device. */
  static async start(
    t: TestContext,
    device: PairedDevice,
    gateway: string,
  ): Promise<DesktopClient> {
    const phone = createPhone(device, gateway)
    const hub = new HubConnectionBuilder()
      .withUrl(`${gateway}/SyncClipboardHub`, { headers: { Authorization: phone.authorization } })
      .withAutomaticReconnect({ nextRetryDelayInMilliseconds: () => 50 })
      .configureLogging(LogLevel.None)
      .build()
    t.after(() => hub.stop())
    const client = new DesktopClient(phone, hub)
    await client.#ask('/file', { method: 'MKCOL' })
    await client.test()
    await hub.start()
    // What is there by now counts as known.
    await client.#ask('/SyncClipboard.json')
    return client
  }

  /** What it reads as the current item. */
  async document(): Promise<Record<string, unknown>> {
    return readObject(await this.#ask('/SyncClipboard.json'))
  }

  /** What it does every ten seconds, for ever. */
  async test(): Promise<void> {
    await this.#ask('/', { method: 'PROPFIND', headers: { Depth: '1' } })
    const version = await (await this.#ask('/api/version')).text()
    assert.match(version, /^v?3\.[1-9]\d*\.\d+$/, 'at least 3.1.1')
  }

  /** Pushes what was copied. */
  async push(copied: Copied): Promise<void> {
    const { type, hash, text, dataName, bytes } = copied
    await this.#ask('/SyncClipboard.json')
    if (!(await this.#isThere(type, hash))) await this.#send(copied)
    const hasData = dataName !== ''
    const preview = text.slice(0, INLINE_LENGTH)
    const size = type === 'Text' ? text.length : bytes.length
    const body = JSON.stringify({ type, hash, text: preview, hasData, dataName, size })
    await this.#ask('/SyncClipboard.json', {
      method: 'PUT',
      // Chunked, without a length.
      body: new Blob([body]).stream(),
      duplex: 'half',
      headers: { 'Content-Type': 'application/json; charset=utf-8' },
    })
  }

  /**
   * What it does at each start while *Sync History* is on: the server has one record at most, so it
   * offers all others that it has.
   *
   * @param history What it has, and when that was used last, in Unix milliseconds.
   */
  async syncHistory(history: readonly (readonly [Copied, number])[]): Promise<void> {
    for (const [copied, usedAt] of history) {
      const { type, hash } = copied
      if (!(await this.#isThere(type, hash))) await this.#send(copied, usedAt)
    }
  }

  /** Anything but these answers fails its push. */
  async #isThere(type: ItemType, hash: string): Promise<boolean> {
    const response = await this.#phone.fetch(`/api/history/${type}-${hash}`, agent())
    if (response.status === 404) return false
    assert.equal(response.status, 200)
    return (await readObject(response))['isDeleted'] !== true
  }

  /** A form as .NET writes it. */
  async #send(
    { type, hash, text, dataName, bytes }: Copied,
    usedAt: number = Date.now(),
  ): Promise<void> {
    const now = new Date(usedAt).toISOString().replace('Z', '0000+00:00')
    const fields = { hash, type, createTime: now, lastModified: now, lastAccessed: now }
    const rest = { starred: 'False', pinned: 'False', version: '0', isDeleted: 'False' }
    const more = { text: text.slice(0, INLINE_LENGTH), size: String(bytes.length) }
    const hasData = dataName === '' ? 'False' : 'True'
    const parts = Object.entries({ ...fields, ...rest, ...more, hasData }).map(
      ([name, value]) =>
        `--${BOUNDARY}\r\nContent-Type: text/plain; charset=utf-8\r\n` +
        `Content-Disposition: form-data; name=${name}\r\n\r\n${value}\r\n`,
    )
    const encoded = Buffer.from(dataName).toString('base64')
    const head =
      `--${BOUNDARY}\r\nContent-Type: application/octet-stream\r\n` +
      `Content-Disposition: form-data; name=data; filename="=?utf-8?B?${encoded}?="; ` +
      `filename*=utf-8''${encodeURIComponent(dataName)}\r\n\r\n`
    const file = dataName === '' ? [] : [Buffer.from(head), bytes, Buffer.from('\r\n')]
    const body = Buffer.concat([
      Buffer.from(parts.join('')),
      ...file,
      Buffer.from(`--${BOUNDARY}--\r\n`),
    ])
    const promise = { 'X-SyncClipboard-Transfer-Data-Hash': sha256(bytes).toUpperCase() }
    await this.#ask('/api/history', {
      method: 'POST',
      body,
      headers: {
        'Content-Type': `multipart/form-data; boundary="${BOUNDARY}"`,
        ...(dataName === '' ? {} : promise),
      },
    })
  }

  /** Takes what was announced, and believes it only if its hash is right. */
  async #take(document: Record<string, unknown>): Promise<Taken> {
    // Documents have these members.
    const { type, hash, text, hasData, dataName } = document as {
      readonly type: ItemType
      readonly hash: string
      readonly text: string
      readonly hasData: boolean
      readonly dataName: string | null
    }
    const record = this.#records.at(-1)
    assert.deepEqual([record?.['type'], record?.['hash']], [type, hash], 'the record comes first')
    if (!hasData) {
      assert.equal(sha256(text).toUpperCase(), hash)
      return { type, hash, text, bytes: undefined }
    }
    const response = await this.#ask(`/api/history/${type}-${hash}/data`)
    const bytes = Buffer.from(await response.arrayBuffer())
    const promised = response.headers.get('X-SyncClipboard-Transfer-Data-Hash')
    assert.equal(sha256(bytes).toUpperCase(), promised)
    if (type !== 'Group') assert.equal(boundToName(String(dataName), bytes), hash)
    return { type, hash, text, bytes }
  }

  async #ask(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await this.#phone.fetch(path, { ...init, ...agent(init.headers) })
    assert.ok(response.ok, `${init.method ?? 'GET'} ${path} is ${response.status}`)
    return response
  }
}

function agent(headers: RequestInit['headers'] = {}): Pick<RequestInit, 'headers'> {
  return { headers: { ...headers, 'User-Agent': 'SyncClipboard' } }
}
