/**
 * The bytes of one file on their way, over as many requests as it takes:
 * draft-ietf-httpbis-resumable-upload-12.
 *
 * Who sends the requests, and when it is worth trying again, is up to the caller.
 * @module
 */

import { MIB } from '../core/limits.ts'
import { ClientError } from './client-error.ts'
import type { Outgoing } from './exchange.ts'
import type { ByteSource, FetchedResponse } from './server.ts'

/** To send less once more takes less time than the requests that would save it. */
export const MIN_RESUMABLE_BYTES: number = 8 * MIB

/** Where a file goes. */
export interface UploadTarget {
  /** Base URL of the server, without a slash at its end. */
  readonly base: string
  /** The request that brings all of it at once. */
  readonly put: Outgoing
  /**
   * An upload that is gone again and again may be behind a proxy that knows nothing of it: after so
   * many beginnings all is sent in one request.
   */
  readonly maxBeginnings: number
  /**
   * Sends a request.
   *
   * @returns The header fields of an answer of success.
   * @throws {ClientError} for any other.
   */
  readonly ask: (outgoing: Outgoing) => Promise<FetchedResponse['headers']>
}

/** One file. */
export class ResumableUpload {
  readonly #target: UploadTarget
  readonly #body: ByteSource
  /** Below the URL of the server; `undefined` while the server knows of no upload. */
  #path: string | undefined
  #offset = 0
  #beginnings = 0

  constructor(target: UploadTarget, body: ByteSource) {
    this.#target = target
    this.#body = body
  }

  /** Bytes that the server had when it was asked last. */
  get offset(): number {
    return this.#offset
  }

  /**
   * Sends all that the server does not have yet.
   *
   * @throws {ClientError} When it broke; the next attempt goes on from there.
   */
  async attempt(signal?: AbortSignal): Promise<void> {
    if (this.#path !== undefined) {
      if (!(await this.#readState(this.#path, signal))) await this.#append(this.#path, signal)
    } else {
      this.#offset = 0
      this.#path = this.#mayBegin() ? await this.#begin(signal) : undefined
      if (this.#path === undefined) await this.#sendAtOnce(signal)
      else await this.#append(this.#path, signal)
    }
    this.#path = undefined
  }

  /**
   * Judges a failure.
   *
   * @returns Whether the server has lost the upload, so that the next attempt begins again.
   */
  isLost({ status }: ClientError): boolean {
    if (this.#path === undefined || (status !== 404 && status !== 410)) return false
    this.#path = undefined
    this.#offset = 0
    return true
  }

  /** Has the server forget what it has of the file. */
  giveUp(): void {
    const path = this.#path
    this.#path = undefined
    if (path === undefined) return
    this.#target.ask({ method: 'DELETE', path }).catch(() => {
      // It is given up there within an hour.
    })
  }

  #mayBegin(): boolean {
    const isLarge = this.#body.size >= MIN_RESUMABLE_BYTES
    return isLarge && this.#beginnings < this.#target.maxBeginnings
  }

  /** @returns Where the upload goes on; `undefined` when that is somewhere else. */
  async #begin(signal: AbortSignal | undefined): Promise<string | undefined> {
    const { ask, put } = this.#target
    const length = { 'Upload-Complete': '?0', 'Upload-Length': String(this.#body.size) }
    const body = new Uint8Array(0)
    const headers = await ask({ ...put, headers: { ...put.headers, ...length }, body, signal })
    this.#beginnings += 1
    const location = headers.get('Location')
    return location === null ? undefined : this.#below(location)
  }

  /** The credentials are for this server only, which may be a part of a site. */
  #below(location: string): string | undefined {
    const { base, put } = this.#target
    const url = base + put.path
    const target = URL.canParse(location, url) ? new URL(location, url).href : ''
    return target.startsWith(`${base}/`) ? target.slice(base.length) : undefined
  }

  /** Learns how far the upload has come. @returns Whether it is complete. */
  async #readState(path: string, signal: AbortSignal | undefined): Promise<boolean> {
    const headers = await this.#target.ask({ method: 'HEAD', path, signal })
    const offset = Number(headers.get('Upload-Offset') ?? NaN)
    if (!Number.isSafeInteger(offset) || offset < 0 || offset > this.#body.size) {
      throw new ClientError('BAD_ANSWER', { reason: 'no offset of this upload' })
    }
    this.#offset = offset
    return headers.get('Upload-Complete') === '?1'
  }

  async #append(path: string, signal: AbortSignal | undefined): Promise<void> {
    const headers = {
      'Content-Type': 'application/partial-upload',
      'Upload-Complete': '?1',
      'Upload-Offset': String(this.#offset),
    }
    const body = this.#body.slice(this.#offset)
    await this.#target.ask({ method: 'PATCH', path, headers, body, signal })
  }

  async #sendAtOnce(signal: AbortSignal | undefined): Promise<void> {
    await this.#target.ask({ ...this.#target.put, body: this.#body, signal })
  }
}
