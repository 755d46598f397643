// @ts-check
/**
 * Brings a file to the computer, over as many requests as it takes:
 * draft-ietf-httpbis-resumable-upload-12.
 *
 * The browser reads the file as it sends it: this page never holds its bytes.
 * @module
 */

import { base } from './account.js'
import { ApiError, ask, authorization, failureOf, pushDocument } from './api.js'

/** To send less once more takes less time than the requests that would save it. */
const MIN_RESUMABLE_BYTES = 8 * 1024 * 1024

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 10_000

/** A connection that takes no byte for so long is dead. */
const MAX_SILENCE_MS = 30_000

/** A phone that was asleep, or has another network, has mostly lost its connections. */
const WAKING_MS = 3_000

/** An upload that the computer gives up again and again has no room there. */
const MAX_LOSSES = 4

/**
 * How far a file is. `away` and `busy` are about the computer, `offline` about this phone.
 *
 * @typedef {object} Progress
 * @property {'sending' | 'storing' | 'away' | 'busy' | 'offline'} state
 * @property {number} sent In bytes.
 * @property {number} speed In bytes a second; 0 when it is not known.
 * @property {boolean} isAnew Whether the computer had lost what was there before.
 */

/** One file, until it is the current item. */
export class FileUpload {
  #file
  #signal
  #onProgress
  #path
  /**
   * Where it goes on.
   *
   * @type {string | undefined}
   */
  #place
  /** Bytes that the computer has. */
  #offset = 0
  #isWhole = false
  /** How often the computer has lost what it had. */
  #losses = 0
  #failures = 0
  #sent = 0
  #speed = 0
  /** Ends the requests of the present try. */
  #abort = new AbortController()
  /** The longest silence of the present try. */
  #silenceMs = MAX_SILENCE_MS
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer
  /**
   * Ends the present pause.
   *
   * @type {(() => void) | undefined}
   */
  #goOn

  /**
   * @param {File} file
   * @param {AbortSignal} signal Cancels it, and has the computer forget it.
   * @param {(progress: Progress) => void} onProgress
   */
  constructor(file, signal, onProgress) {
    this.#file = file
    this.#signal = signal
    this.#onProgress = onProgress
    this.#path = `/file/${encodeURIComponent(file.name)}`
  }

  /**
   * Sends it, however long that takes.
   *
   * @throws {ApiError} When it is cancelled, or cannot become better by itself.
   */
  async run() {
    const listening = new AbortController()
    const listen = (/** @type {EventTarget} */ on, /** @type {string} */ type, act = this.#wake) =>
      on.addEventListener(type, act, listening)
    listen(window, 'online')
    listen(window, 'pageshow')
    listen(document, 'resume')
    listen(document, 'visibilitychange')
    listen(window, 'offline', () => this.#abort.abort())
    // At once: whoever cancels may have no credentials a moment later.
    listen(this.#signal, 'abort', () => this.#cancel())
    try {
      for (;;) {
        try {
          return await this.#try()
        } catch (error) {
          await this.#recover(error)
        }
      }
    } finally {
      listening.abort()
      this.#cancel()
    }
  }

  async #try() {
    if (this.#signal.aborted) throw new ApiError('away')
    this.#abort = new AbortController()
    this.#expectBytes(MAX_SILENCE_MS)
    try {
      if (!this.#isWhole) await this.#sendBytes()
      this.#isWhole = true
      this.#place = undefined
      // A slow disk takes minutes for a film.
      clearTimeout(this.#timer)
      this.#tell('storing')
      const { name, size } = this.#file
      const document = { type: 'File', text: name, dataName: name, hasData: true, size }
      await pushDocument(document, this.#abort.signal)
    } finally {
      clearTimeout(this.#timer)
    }
  }

  async #sendBytes() {
    const file = this.#file
    if (file.size < MIN_RESUMABLE_BYTES) {
      return this.#transfer('PUT', this.#path, { 'Content-Type': typeOf(file) })
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
      'Content-Type': typeOf(this.#file),
      'Upload-Complete': '?0',
      'Upload-Length': String(this.#file.size),
    }
    const { signal } = this.#abort
    const response = await ask(this.#path, { method: 'PUT', headers, signal })
    const { href } = new URL(response.headers.get('Location') ?? '', base + this.#path)
    // The credentials are for this computer only, which may be below a path of a site.
    if (!href.startsWith(`${base}/`)) throw new ApiError('unexpected')
    this.#place = href.slice(base.length)
  }

  /** Learns how far it has come. @returns Whether that is all. */
  async #readState() {
    const { signal } = this.#abort
    const { headers } = await ask(this.#place ?? '', { method: 'HEAD', signal })
    const offset = Number(headers.get('Upload-Offset') ?? NaN)
    if (!(offset >= 0 && offset <= this.#file.size)) throw new ApiError('unexpected')
    if (offset > this.#offset) this.#failures = 0
    this.#offset = offset
    return headers.get('Upload-Complete') === '?1'
  }

  /**
   * Sends what the computer does not have yet. `fetch` does not tell how far it is.
   *
   * @param {string} method
   * @param {string} path
   * @param {Readonly<Record<string, string>>} headers
   * @returns {Promise<void>} Rejects with an {@link ApiError}.
   */
  #transfer(method, path, headers) {
    const { signal } = this.#abort
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
        this.#expectBytes()
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

  /** Waits before the next try. @throws What cannot become better by itself. */
  async #recover(/** @type {unknown} */ error) {
    if (this.#signal.aborted || !(error instanceof ApiError)) throw error
    const { code } = error
    if (code === 'gone') {
      this.#losses += 1
      if (this.#losses > MAX_LOSSES) throw new ApiError('unexpected')
      this.#place = undefined
      this.#isWhole = false
      this.#offset = 0
      this.#sent = 0
    } else if (!error.mayPass) {
      throw error
    } else if (!this.#isWhole && !(await isReadable(this.#file))) {
      throw new ApiError('unreadable')
    }
    if (this.#signal.aborted) throw error
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** this.#failures, MAX_DELAY_MS)
    this.#failures += 1
    this.#tell(!navigator.onLine ? 'offline' : code === 'busy' ? 'busy' : 'away')
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
    else this.#expectBytes(WAKING_MS)
  }

  /** Ends the present try unless bytes go on to flow. */
  #expectBytes(silenceMs = this.#silenceMs) {
    this.#silenceMs = silenceMs
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#abort.abort(), silenceMs)
  }

  /** Ends what is under way, and has the computer forget what it has of the file. */
  #cancel() {
    const place = this.#place
    this.#place = undefined
    this.#abort.abort()
    this.#goOn?.()
    if (place === undefined) return
    ask(place, { method: 'DELETE', keepalive: true }).catch(() => {
      // The computer gives it up within an hour.
    })
  }

  #tell(/** @type {Progress['state']} */ state) {
    const isAnew = this.#losses > 0
    this.#onProgress({ state, sent: this.#sent, speed: this.#speed, isAnew })
  }
}

function typeOf(/** @type {File} */ { type }) {
  return type || 'application/octet-stream'
}

/** Whether the phone still gives the bytes of a file, which may have been moved or changed. */
async function isReadable(/** @type {File} */ file) {
  return file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    )
}
