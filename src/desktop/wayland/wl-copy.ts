/**
 * One run of wl-copy, which offers one thing until somebody copies something else.
 *
 * wl-copy keeps what it offers in a file of its own, in a private folder, which it removes when it
 * is replaced, and not when it is killed. So it is made to end by clearing the clipboard; where it
 * must be killed its folder is removed here.
 *
 * It is not ended when this program is killed: what was pushed can still be pasted then.
 *
 * @module
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { createHash, type Hash } from 'node:crypto'
import { readFile, readlink, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { KIB } from '../../core/limits.ts'
import { codeOf } from '../../lib/system-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OfferedContent } from '../../ports/system-clipboard.ts'
import type { OfferedBytes } from '../offered-formats.ts'
import { killGroup, runTool } from './run-tool.ts'
import { writableContent, type WrittenContent } from './written-content.ts'

export interface WlCopyOptions {
  readonly content: OfferedContent
  readonly env: NodeJS.ProcessEnv
  readonly clock: Clock
}

const BLOCK_BYTES: number = 256 * KIB

/** Time from the last byte until others can paste. */
const CONFIRM_MS = 10_000

/** Time to end when the clipboard was cleared. */
const END_MS = 2000

const OVERTAKEN = 'Another program copied at the same moment'

export class WlCopy {
  readonly #options: WlCopyOptions
  readonly #child: ChildProcess
  readonly #sending = new AbortController()
  readonly #confirmed: Promise<void>
  #settle: (failure?: Error) => void = () => undefined
  #cancelTimeout: () => void = () => undefined
  #sha256: string | undefined
  #hasComplained = false
  /** Resolves when it is gone. */
  readonly ended: Promise<void>

  /** Starts it, and sends it what it offers. */
  constructor(options: WlCopyOptions) {
    this.#options = options
    const { type, bytes } = writableContent(options.content)
    this.#confirmed = new Promise((resolve, reject) => {
      this.#settle = (failure) => (failure === undefined ? resolve() : reject(failure))
    })
    // Who never waits for it has lost nothing.
    this.#confirmed.catch(() => undefined)
    const args = ['--foreground', '--type', type]
    const { env } = options
    const child = spawn('wl-copy', args, { env, stdio: ['pipe', 'ignore', 'pipe'], detached: true })
    this.#child = child
    child.stderr.on('data', () => (this.#hasComplained = true))
    child.on('error', (error) => this.#settle(describe(error)))
    this.ended = new Promise((resolve) => {
      child.on('close', () => {
        this.#sending.abort()
        this.#cancelTimeout()
        this.#settle(new Error(this.isLost ? 'wl-copy failed' : OVERTAKEN))
        resolve()
      })
    })
    void this.#send(bytes)
  }

  /** Once everything was sent; until then nothing is offered yet. */
  get written(): WrittenContent | undefined {
    const { content } = this.#options
    return this.#sha256 === undefined ? undefined : { content, sha256: this.#sha256 }
  }

  /** It did not end because somebody else copied. */
  get isLost(): boolean {
    return this.#hasComplained || this.#child.signalCode !== null
  }

  /** To be told when others were seen to be able to paste it. */
  confirm(): void {
    this.#cancelTimeout()
    this.#settle()
  }

  /**
   * Resolves when {@link confirm} is called.
   *
   * @throws {Error} When it ends before.
   */
  confirmed(): Promise<void> {
    return this.#confirmed
  }

  /** Somebody copied: what is not offered yet never will be. */
  overtake(): void {
    if (this.#sha256 === undefined) void this.abort(OVERTAKEN)
  }

  /** Kills it, and removes what it leaves. */
  async abort(reason: string): Promise<void> {
    this.#settle(new Error(reason))
    const { pid, exitCode, signalCode } = this.#child
    if (pid !== undefined && exitCode === null && signalCode === null) {
      const folder = await findFolder(pid)
      killGroup(pid)
      if (folder !== undefined) await rm(folder, { recursive: true, force: true })
    }
    await this.ended
  }

  /** Lets go of the clipboard. */
  async release(): Promise<void> {
    const { env, clock } = this.#options
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const cancel = clock.after(END_MS, () => void this.abort('The Wayland compositor does not answer'))
    // Fails with the compositor, and then wl-copy ends as well, or the timer ends it.
    await clearClipboard(env, clock).catch(() => undefined)
    await this.ended
    cancel()
  }

  async #send(bytes: OfferedBytes): Promise<void> {
    const { stdin } = this.#child
    const hash = createHash('sha256')
    try {
      if (stdin === null) throw new Error('wl-copy has no input')
      const { signal } = this.#sending
      await pipeline(Readable.from(blocksOf(bytes, hash)), stdin, { signal })
      this.#sha256 = hash.digest('hex')
      this.#cancelTimeout = this.#options.clock.after(CONFIRM_MS, () => {
        void this.abort('wl-copy does not become ready')
      })
    } catch (error) {
      // What has come so far must not be offered. When it ended first, that is the reason.
      await this.abort(codeOf(error) === 'EPIPE' ? 'wl-copy ended' : messageOf(error))
    }
  }
}

/** Empties the clipboard, whoever owns it. @throws {Error} When wl-copy cannot. */
export async function clearClipboard(env: NodeJS.ProcessEnv, clock: Clock): Promise<void> {
  const { isSuccess } = await runTool('wl-copy', ['--clear'], { env, clock, maxBytes: 0 })
  if (!isSuccess) throw new Error('Cannot clear the clipboard')
}

async function* blocksOf(bytes: OfferedBytes, hash: Hash): AsyncGenerator<Uint8Array> {
  const opened = await bytes.open()
  try {
    for (let position = 0; position < bytes.size; ) {
      const block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, bytes.size - position))
      const count = await opened.read(block, position)
      if (count === 0) throw new Error('Cannot offer the item: bytes are missing')
      hash.update(block.subarray(0, count))
      yield block.subarray(0, count)
      position += count
    }
  } finally {
    await opened.close()
  }
}

/** The folder of a wl-copy that is still taking its input: there is a `cat` that writes the file. */
async function findFolder(pid: number): Promise<string | undefined> {
  try {
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
    for (const child of children.split(' ').filter((id) => id !== '')) {
      const path = await readlink(`/proc/${child}/fd/1`)
      if (/\/wl-copy-buffer-[^/]+\/stdin$/.test(path)) return dirname(path)
    }
  } catch {
    // It has ended, or has begun no file.
  }
  return undefined
}

function describe(error: Error): Error {
  const code = codeOf(error)
  if (code === 'ENOENT') return new Error('"wl-copy" is not installed')
  return new Error(`Cannot start "wl-copy": ${code ?? 'unknown error'}`)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
