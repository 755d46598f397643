/**
 * Brings a file to the computer, over as many requests as it takes:
 * draft-ietf-httpbis-resumable-upload-12.
 *
 * The browser reads the file as it sends it: this page never holds its bytes.
 * @module
 */

import { base } from './account.ts'
import { ApiError, ask, authorization, failureOf, pushDocument } from './api.ts'
import type { Pushed } from './strings.ts'

/** To send less once more takes less time than the requests that would save it. */
const MIN_RESUMABLE_BYTES = 8 * 1024 * 1024

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 10_000

/** A connection that takes no byte for so long is dead. */
const MAX_SILENCE_MS = 30_000

/** A phone that was asleep, or has another network, has mostly lost its connections. */
const WAKING_MS = 3_000

/** An upload that the computer gives up again and again has no room there. */
export const MAX_LOSSES = 4

/** Why nothing can be sent for now. */
export type Held = 'away' | 'busy' | 'offline'

/** How far a file is. `away` and `busy` are about the computer, `offline` about this phone. */
export interface Progress {
  readonly state: 'sending' | Held
  /** In bytes. */
  readonly sent: number
  /** In bytes a second; 0 when it is not known. */
  readonly speed: number
  /** Whether the computer had lost what was there before. */
  readonly isAnew: boolean
}

/** Goes on over breaks until something is done. */
class Persistence {
  #signal
  #failures = 0
  /** Ends the requests of the present try. */
  #abort = new AbortController()
  /** The longest silence of the present try. */
  #silenceMs = MAX_SILENCE_MS
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Ends the present pause. */
  #goOn: (() => void) | undefined

  /** @param signal Cancels it. */
  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  /** Ends the requests of the present try. */
  get signal() {
    return this.#abort.signal
  }

  /**
   * Tries, however long that takes.
   *
   * @param judge Throws what cannot become better by itself.
   * @param cancel Called at the end, and at once by who cancels: they may have no
   *   credentials a moment later.
   * @throws {ApiError} When it is cancelled, or cannot become better by itself.
   */
  async run<T>(
    attempt: () => Promise<T>,
    judge: (error: ApiError) => Promise<void>,
    cancel: () => void,
  ): Promise<T> {
    const listening = new AbortController()
    const listen = (on: EventTarget, type: string, act = this.#wake) =>
      on.addEventListener(type, act, listening)
    const end = () => {
      cancel()
      this.#abort.abort()
      this.#goOn?.()
    }
    listen(window, 'online')
    listen(window, 'pageshow')
    listen(document, 'resume')
    listen(document, 'visibilitychange')
    listen(window, 'offline', () => this.#abort.abort())
    listen(this.#signal, 'abort', end)
    try {
      for (;;) {
        try {
          if (this.#signal.aborted) throw new ApiError('away')
          this.#abort = new AbortController()
          this.expectBytes(MAX_SILENCE_MS)
          return await attempt()
        } catch (error) {
          if (this.#signal.aborted || !(error instanceof ApiError)) throw error
          await judge(error)
          if (this.#signal.aborted) throw error
          await this.#pause()
        }
      }
    } finally {
      listening.abort()
      this.expectAnything()
      end()
    }
  }

  /** Ends the present try unless bytes go on to flow. */
  expectBytes(silenceMs = this.#silenceMs) {
    this.#silenceMs = silenceMs
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#abort.abort(), silenceMs)
  }

  /** Waits for an answer: a slow disk takes minutes for a film. */
  expectAnything() {
    clearTimeout(this.#timer)
  }

  /** Something has come of the tries until now. */
  succeed() {
    this.#failures = 0
  }

  async #pause() {
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** this.#failures, MAX_DELAY_MS)
    this.#failures += 1
    clearTimeout(this.#timer)
    await new Promise((resolve) => {
      this.#goOn = () => resolve(undefined)
      this.#timer = setTimeout(resolve, delayMs)
    })
    clearTimeout(this.#timer)
    this.#goOn = undefined
  }

  /** The phone is back, or has a network: what hangs gets a moment to show that it lives. */
  #wake = () => {
    if (document.hidden) return
    if (this.#goOn !== undefined) this.#goOn()
    else this.expectBytes(WAKING_MS)
  }
}

function stateOf({ code }: ApiError): Held {
  return !navigator.onLine ? 'offline' : code === 'busy' ? 'busy' : 'away'
}

/** A new name of a batch. The page may have no secure context, and so no `randomUUID`. */
export function newBatch() {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Makes one item of files of a batch that are there.
 *
 * @param signal Cancels it.
 * @throws {ApiError} `gone` when the computer has lost one of them.
 */
export async function pushBatch(
  document: object,
  signal: AbortSignal,
  onState: (state: 'storing' | Held) => void,
): Promise<Pushed> {
  const persistence = new Persistence(signal)
  let losses = 0
  const attempt = () => {
    persistence.expectAnything()
    onState('storing')
    return pushDocument(document, persistence.signal)
  }
  const judge = async (error: ApiError) => {
    if (!error.mayPass) throw error
    if (error.code === 'unexpected') losses += 1
    if (losses > MAX_LOSSES) throw error
    onState(stateOf(error))
  }
  return persistence.run(attempt, judge, () => {})
}

/** One file of a batch, until the computer has it. */
export class FileUpload {
  #file
  #onProgress
  #path
  #batch
  #persistence
  /** Where it goes on. */
  #place: string | undefined
  /** Bytes that the computer has. */
  #offset = 0
  /** How often the computer has lost what it had. */
  #losses
  #sent = 0
  #speed = 0

  /**
   * @param how.place The batch, a slash, and the number in it.
   * @param how.signal Cancels it, and has the computer forget it.
   * @param how.isAnew Whether the computer has lost it.
   */
  constructor(
    file: File,
    {
      place,
      signal,
      isAnew,
      onProgress,
    }: {
      readonly place: string
      readonly signal: AbortSignal
      readonly isAnew: boolean
      readonly onProgress: (progress: Progress) => void
    },
  ) {
    this.#file = file
    this.#onProgress = onProgress
    this.#path = `/file/${encodeURIComponent(file.name)}`
    this.#batch = { 'X-Clipgate-Batch': place }
    this.#losses = isAnew ? 1 : 0
    this.#persistence = new Persistence(signal)
  }

  /**
   * Sends it, however long that takes.
   *
   * @throws {ApiError} When it is cancelled, or cannot become better by itself.
   */
  run() {
    const attempt = async () => {
      await this.#sendBytes()
      this.#place = undefined
    }
    return this.#persistence.run(
      attempt,
      (error) => this.#judge(error),
      () => this.#forget(),
    )
  }

  async #sendBytes() {
    const file = this.#file
    if (file.size < MIN_RESUMABLE_BYTES) {
      return this.#transfer('PUT', this.#path, { ...this.#batch, 'Content-Type': typeOf(file) })
    }
    if (this.#place === undefined) await this.#begin()
    else if (await this.#readState()) return
    await this.#transfer('PATCH', this.#place ?? '', {
      'Content-Type': 'application/partial-upload',
      'Upload-Complete': '?1',
      'Upload-Offset': String(this.#offset),
    })
  }

  async #begin() {
    const headers = {
      ...this.#batch,
      'Content-Type': typeOf(this.#file),
      'Upload-Complete': '?0',
      'Upload-Length': String(this.#file.size),
    }
    const { signal } = this.#persistence
    const response = await ask(this.#path, { method: 'PUT', headers, signal })
    const { href } = new URL(response.headers.get('Location') ?? '', base + this.#path)
    // The credentials are for this computer only, which may be below a path of a site.
    if (!href.startsWith(`${base}/`)) throw new ApiError('unexpected')
    this.#place = href.slice(base.length)
  }

  /** Learns how far it has come. @returns Whether that is all. */
  async #readState() {
    const { signal } = this.#persistence
    const { headers } = await ask(this.#place ?? '', { method: 'HEAD', signal })
    const offset = Number(headers.get('Upload-Offset') ?? NaN)
    if (!(offset >= 0 && offset <= this.#file.size)) throw new ApiError('unexpected')
    if (offset > this.#offset) this.#persistence.succeed()
    this.#offset = offset
    return headers.get('Upload-Complete') === '?1'
  }

  /**
   * Sends what the computer does not have yet. `fetch` does not tell how far it is.
   *
   * @returns Rejects with an {@link ApiError}.
   */
  #transfer(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { signal } = this.#persistence
    const startedAt = Date.now()
    this.#sent = this.#offset
    this.#speed = 0
    this.#tell('sending')
    return new Promise((resolve, reject) => {
      // It may have been cancelled while an answer was on its way.
      if (signal.aborted) throw new ApiError('away')
      const request = new XMLHttpRequest()
      request.open(method, base + path)
      for (const [name, value] of Object.entries({ ...headers, ...authorization() })) {
        request.setRequestHeader(name, value)
      }
      request.upload.addEventListener('progress', ({ loaded }) => {
        const seconds = (Date.now() - startedAt) / 1000
        this.#persistence.expectBytes()
        this.#sent = this.#offset + loaded
        this.#speed = seconds < 1 ? 0 : loaded / seconds
        this.#tell('sending')
      })
      request.addEventListener('loadend', () => {
        const { status } = request
        if (status === 200) resolve()
        else reject(failureOf(status))
      })
      signal.addEventListener('abort', () => request.abort())
      request.send(this.#file.slice(this.#offset))
    })
  }

  /** @throws What cannot become better by itself. */
  async #judge(error: ApiError) {
    if (error.code === 'gone') {
      this.#losses += 1
      if (this.#losses > MAX_LOSSES) throw new ApiError('unexpected')
      this.#place = undefined
      this.#offset = 0
      this.#sent = 0
    } else if (!error.mayPass) {
      throw error
    } else if (!(await isReadable(this.#file))) {
      throw new ApiError('unreadable')
    }
    this.#tell(stateOf(error))
  }

  /** Has the computer forget what it has of the file. */
  #forget() {
    const place = this.#place
    this.#place = undefined
    if (place === undefined) return
    ask(place, { method: 'DELETE', keepalive: true }).catch(() => {
      // The computer gives it up within an hour.
    })
  }

  #tell(state: Progress['state']) {
    const isAnew = this.#losses > 0
    this.#onProgress({ state, sent: this.#sent, speed: this.#speed, isAnew })
  }
}

function typeOf({ type }: File) {
  return type || 'application/octet-stream'
}

/** Whether the phone still gives the bytes of a file, which may have been moved or changed. */
async function isReadable(file: File) {
  return file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    )
}
