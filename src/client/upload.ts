/**
 * Sends the bytes of a file. Where the server offers it, a large one goes on after a break instead
 * of beginning again: draft-ietf-httpbis-resumable-upload-12.
 * @module
 */

import { backOff } from '../lib/back-off.ts'
import { MIB } from '../core/limits.ts'
import { ClientError, mayPass } from './client-error.ts'
import { exchange, filePath, type Outgoing } from './exchange.ts'
import type { ByteSource, Server } from './server.ts'
import { sleep } from '../lib/clock.ts'

/** The name and type of an upload. */
export interface Upload {
  readonly dataName: string
  readonly mediaType: string
  readonly signal?: AbortSignal | undefined
}

/** To send less once more takes less time than the requests that would save it. */
const MIN_RESUMABLE_BYTES: number = 8 * MIB

/** An upload that is gone again and again may be behind a proxy that knows nothing of it. */
const MAX_BEGINNINGS = 2

/** Attempts in a row that bring no byte further. */
const MAX_FAILURES = 6

// Printable ASCII, so that it can stand in a header, and a slash.
const MEDIA_TYPE = /^[!-~]+\/[ -~]+$/

/** Sends bytes in one request. @throws {ClientError} */
export async function putFile(server: Server, body: ByteSource, upload: Upload): Promise<void> {
  await exchange(server, { ...putOf(upload), body }, () => Promise.resolve())
}

/**
 * Sends bytes, and goes on after a break where the server can. An upload that the caller aborts is
 * given up there as well.
 *
 * @throws {ClientError}
 */
export async function sendFile(server: Server, body: ByteSource, upload: Upload): Promise<void> {
  const isLarge = body.size >= MIN_RESUMABLE_BYTES
  if (!isLarge || !(await offersResumption(server, upload))) return putFile(server, body, upload)
  await new ResumableUpload(server, body, upload).run()
}

async function offersResumption(server: Server, upload: Upload): Promise<boolean> {
  const { path, signal } = putOf(upload)
  try {
    return await exchange(server, { method: 'OPTIONS', path, signal }, async ({ response }) => {
      return response.headers.has('Upload-Limit')
    })
  } catch (error) {
    const isRefused = error instanceof ClientError && error.status !== undefined
    if (isRefused && error.code !== 'UNAUTHORIZED') return false
    throw error
  }
}

/** One upload, over as many requests as it takes. */
class ResumableUpload {
  readonly #server: Server
  readonly #body: ByteSource
  readonly #upload: Upload
  /** Below the URL of the server; `undefined` until the upload has begun. */
  #path: string | undefined
  #offset = 0
  #failures = 0
  #beginnings = 0

  constructor(server: Server, body: ByteSource, upload: Upload) {
    this.#server = server
    this.#body = body
    this.#upload = upload
  }

  async run(): Promise<void> {
    for (;;) {
      try {
        return await this.#attempt()
      } catch (error) {
        if (this.#upload.signal?.aborted === true) this.#giveUp()
        await this.#recover(error)
      }
    }
  }

  async #attempt(): Promise<void> {
    if (this.#path === undefined) {
      this.#path = this.#beginnings < MAX_BEGINNINGS ? await this.#begin() : undefined
      this.#beginnings += 1
      this.#offset = 0
      if (this.#path === undefined) return putFile(this.#server, this.#body, this.#upload)
    } else if (await this.#readState(this.#path)) {
      return
    }
    await this.#append(this.#path)
  }

  /** @returns Where the upload goes on; `undefined` when it is somewhere else. */
  async #begin(): Promise<string | undefined> {
    const put = putOf(this.#upload)
    const headers = {
      ...put.headers,
      'Upload-Complete': '?0',
      'Upload-Length': String(this.#body.size),
    }
    const body = new Uint8Array(0)
    return exchange(this.#server, { ...put, headers, body }, async ({ response }) => {
      const location = response.headers.get('Location')
      return location === null ? undefined : this.#below(location)
    })
  }

  /** The credentials are for this server only, which may be a part of a site. */
  #below(location: string): string | undefined {
    const { base } = this.#server
    const url = base + putOf(this.#upload).path
    const target = URL.canParse(location, url) ? new URL(location, url).href : ''
    return target.startsWith(`${base}/`) ? target.slice(base.length) : undefined
  }

  /** Learns how far the upload has come. @returns Whether it is complete. */
  async #readState(path: string): Promise<boolean> {
    const { signal } = this.#upload
    return exchange(this.#server, { method: 'HEAD', path, signal }, async ({ response }) => {
      const { headers } = response
      const offset = Number(headers.get('Upload-Offset') ?? NaN)
      if (!Number.isSafeInteger(offset) || offset < 0 || offset > this.#body.size) {
        throw new ClientError('BAD_ANSWER', { reason: 'no offset of this upload' })
      }
      if (offset > this.#offset) this.#failures = 0
      this.#offset = offset
      return headers.get('Upload-Complete') === '?1'
    })
  }

  async #append(path: string): Promise<void> {
    const headers = {
      'Content-Type': 'application/partial-upload',
      'Upload-Complete': '?1',
      'Upload-Offset': String(this.#offset),
    }
    const { signal } = this.#upload
    const body = this.#body.slice(this.#offset)
    const patch = { method: 'PATCH', path, headers, body, signal } as const
    await exchange(this.#server, patch, () => Promise.resolve())
  }

  /** Waits before the next attempt. @throws What cannot become better. */
  async #recover(error: unknown): Promise<void> {
    const { signal = new AbortController().signal } = this.#upload
    if (signal.aborted || !(error instanceof ClientError)) throw error
    const isGone = error.code === 'NOT_FOUND' && this.#path !== undefined
    if (isGone) this.#path = undefined
    // A proxy may have cut the body.
    const isCut = error.problem === 'INCOMPLETE_BODY'
    this.#failures += 1
    if (!(isGone || isCut || mayPass(error)) || this.#failures > MAX_FAILURES) throw error
    const { clock, random } = this.#server
    const delay = backOff(this.#failures, { random, retryAfterMs: error.retryAfterMs })
    await sleep(clock, delay, signal)
  }

  #giveUp(): void {
    if (this.#path === undefined) return
    const cancel = { method: 'DELETE', path: this.#path } as const
    exchange(this.#server, cancel, () => Promise.resolve()).catch(() => {
      // It is given up there within an hour.
    })
  }
}

function putOf({ dataName, mediaType, signal }: Upload): Outgoing & { readonly method: 'PUT' } {
  if (!MEDIA_TYPE.test(mediaType)) {
    throw new ClientError('ARGUMENT_INVALID', { reason: 'the media type is malformed' })
  }
  const headers = { 'Content-Type': mediaType }
  return { method: 'PUT', path: filePath(dataName), headers, signal }
}
