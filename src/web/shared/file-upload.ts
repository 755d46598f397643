/**
 * Brings a file to the daemon, however long that takes.
 *
 * The browser reads the file as it sends it: the page never holds its bytes.
 * @module
 */

import { ClientError, mayPass } from '../../client/client-error.ts'
import type { Outgoing } from '../../client/exchange.ts'
import { ResumableUpload } from '../../client/resumable-upload.ts'
import { ask, failureOf, refuse, type Door } from './request.ts'
import { heldBy, Persistence, type Held } from './persistence.ts'

/** A file that the daemon gives up again and again has no room there. */
const MAX_BEGINNINGS = 5

/** How far a file is. */
export interface Progress {
  readonly state: 'sending' | Held
  /** In bytes. */
  readonly sent: number
  /** In bytes a second; 0 when it is not known. */
  readonly speed: number
  /** Whether the daemon had lost what was there before. */
  readonly isAnew: boolean
}

/** Who brings a file, and who hears of it. */
export interface FileUploadOptions {
  readonly door: Door
  /** Besides its type. */
  readonly headers?: Readonly<Record<string, string>>
  /** Cancels it, and has the daemon forget it. */
  readonly signal: AbortSignal
  /** Whether the daemon has lost it before. */
  readonly isAnew?: boolean
  readonly onProgress: (progress: Progress) => void
}

/** One file, until the daemon has it. */
export class FileUpload {
  readonly #file: File
  readonly #options: FileUploadOptions
  readonly #persistence: Persistence
  readonly #upload: ResumableUpload
  #isAnew: boolean
  /** Whether it could not be read when that was tried last. */
  #isDoubtful = false
  #sent = 0
  #speed = 0

  constructor(file: File, options: FileUploadOptions) {
    const { door, headers, signal, isAnew = false } = options
    this.#file = file
    this.#options = options
    this.#isAnew = isAnew
    this.#persistence = new Persistence(signal)
    const path = `/file/${encodeURIComponent(file.name)}`
    const type = file.type || 'application/octet-stream'
    const put = { method: 'PUT', path, headers: { ...headers, 'Content-Type': type } } as const
    const target = {
      base: door.base,
      put,
      maxBeginnings: MAX_BEGINNINGS,
      ask: (outgoing: Outgoing) => this.#ask(outgoing),
    }
    this.#upload = new ResumableUpload(target, file)
  }

  /**
   * Sends it, however long that takes.
   *
   * @throws {ClientError} When it is cancelled, or cannot become better by itself.
   */
  run(): Promise<void> {
    return this.#persistence.run(
      () => this.#attempt(),
      (error) => this.#judge(error),
      () => this.#upload.giveUp(),
    )
  }

  async #attempt(): Promise<void> {
    // Safari reads nothing for a page that is left, until somebody comes back to it.
    if (this.#isDoubtful && !(await isReadable(this.#file)))
      throw new ClientError('SOURCE_UNREADABLE')
    const { offset } = this.#upload
    try {
      await this.#upload.attempt(this.#persistence.signal)
    } finally {
      if (this.#upload.offset > offset) this.#persistence.succeed()
    }
  }

  async #ask(outgoing: Outgoing): Promise<Headers> {
    const { method, path, headers = {}, body, signal = null } = outgoing
    if (body instanceof Blob) return this.#transfer(outgoing, body)
    // A page that closes still says what it gives up.
    const keepalive = method === 'DELETE'
    return (await ask(this.#options.door, path, { method, headers, signal, keepalive })).headers
  }

  /** Sends the bytes. `fetch` does not tell how far it is. */
  async #transfer({ method, path, headers, signal }: Outgoing, body: Blob): Promise<Headers> {
    const { door } = this.#options
    const { offset } = this.#upload
    this.#sent = offset
    this.#speed = 0
    const Authorization = await door.authorization(signal)
    const startedAt = Date.now()
    this.#tell('sending')
    return new Promise((resolve, reject) => {
      // It may have been cancelled while an answer was on its way.
      if (signal?.aborted) throw new ClientError('UNREACHABLE')
      const request = new XMLHttpRequest()
      request.open(method, door.base + path)
      const all = { ...headers, Authorization }
      for (const [name, value] of Object.entries(all)) request.setRequestHeader(name, value)
      request.upload.addEventListener('progress', ({ loaded }) => {
        const seconds = (Date.now() - startedAt) / 1000
        this.#persistence.expectBytes()
        this.#sent = offset + loaded
        this.#speed = seconds < 1 ? 0 : loaded / seconds
        this.#tell('sending')
      })
      request.addEventListener('loadend', () => {
        const { status } = request
        const type = request.getResponseHeader('Content-Type')
        if (status >= 200 && status < 300) resolve(new Headers())
        else if (status === 0) reject(new ClientError('UNREACHABLE'))
        else resolve(refuse(door, status, type, signal))
      })
      signal?.addEventListener('abort', () => request.abort())
      request.send(body)
    })
  }

  /** @throws What cannot become better by itself. */
  async #judge(error: ClientError): Promise<void> {
    if (this.#upload.isLost(error)) {
      this.#isAnew = true
      this.#sent = 0
    } else if (!mayPass(error)) {
      // Nothing of ours is gone where there was no upload yet.
      throw failureOf(error) === 'gone' ? new ClientError('BAD_ANSWER') : error
    } else {
      this.#isDoubtful = !(await isReadable(this.#file))
    }
    this.#tell(heldBy(error))
  }

  #tell(state: Progress['state']): void {
    const { onProgress } = this.#options
    onProgress({ state, sent: this.#sent, speed: this.#speed, isAnew: this.#isAnew })
  }
}

/** Whether the browser still gets the bytes of a file, which may have been moved or changed. */
async function isReadable(file: File): Promise<boolean> {
  // One that is gone has no size any more, and no part of it is read.
  const part = file.size === 0 ? file : file.slice(0, 1)
  return part.arrayBuffer().then(
    () => true,
    () => false,
  )
}
