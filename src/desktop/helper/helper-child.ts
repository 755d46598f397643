/**
 * One run of a helper process, from its start until nothing of it is left. It knows lines and no
 * other protocol, and starts nothing again.
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { KIB } from '../../core/limits.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import { GrowingBuffer } from '../../lib/growing-buffer.ts'
import { describeStart } from '../clipboard-errors.ts'

/** A program that can be run as a helper. */
export interface HelperCommand {
  /** A program; no shell is involved. */
  readonly command: string
  readonly args: readonly string[]
  /** The name that people know; the command when absent. */
  readonly name?: string
  /** The whole environment of the helper. */
  readonly env: NodeJS.ProcessEnv
  /** Longest line that it may write, and the most bytes that may wait until it reads them. */
  readonly maxLineBytes: number
  /**
   * Names the reason when the helper tells why it ends on stderr. What it returns is shown, so it
   * must not quote the line, which may be anything. Lines are logged by their length only.
   */
  readonly explain?: ((line: string) => string | undefined) | undefined
}

interface HelperChildOptions extends HelperCommand, LineSplitterOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** Called once. */
  readonly onEnded: (reason: string) => void
}

/** Time between asking it to end and ending it. */
const TERMINATE_MS = 2000

/** Time for what it wrote last, when a process that it started holds its output open. */
const DRAIN_MS = 1000

const MAX_STDERR_LINE_BYTES: number = 4 * KIB

/** The most lines of one run that are logged: a helper that complains without end fills no log. */
const MAX_LOGGED_LINES = 20

/** A helper that runs. */
export class HelperChild {
  readonly #options: HelperChildOptions
  readonly #child: ChildProcess
  readonly #ended: Promise<void>
  #cancelTimer: () => void = () => undefined
  #failure: string | undefined
  #explanation: string | undefined
  #complaints = 0

  /** Starts it. @throws {Error} When the system refuses outright. */
  constructor(options: HelperChildOptions) {
    this.#options = options
    const { command, args, env, name = command } = options
    const child = spawn(command, args, { env, stdio: 'pipe', windowsHide: true })
    this.#child = child
    const lines = new LineSplitter(options)
    child.stdout.on('data', (chunk: Buffer) => lines.push(chunk))
    const complaints = new LineSplitter({
      maxLineBytes: MAX_STDERR_LINE_BYTES,
      onLine: (line) => this.#onComplaint(line),
      onRefused: () => this.#logComplaint(MAX_STDERR_LINE_BYTES),
    })
    child.stderr.on('data', (chunk: Buffer) => complaints.push(chunk))
    // It ended while we wrote: that is told by its end.
    child.stdin.on('error', () => undefined)
    child.on('error', (error) => (this.#failure ??= describeStart(name, error)))
    child.on('exit', () => this.#closeOutputSoon())
    this.#ended = new Promise((resolve) => {
      child.on('close', (code, signal) => {
        this.#cancelTimer()
        resolve()
        options.onEnded(this.#failure ?? this.#explanation ?? describeEnd(name, code, signal))
      })
    })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Bytes that it has not taken yet. */
  get waitingBytes(): number {
    return this.#child.stdin?.writableLength ?? 0
  }

  write(line: string): void {
    this.#child.stdin?.write(line)
  }

  /** Ends it now. `reason` is that of the end. */
  kill(reason: string): void {
    this.#failure ??= reason
    this.#child.kill('SIGKILL')
  }

  /** Asks it to end, and ends it when it does not. Resolves when it is gone. */
  async close(): Promise<void> {
    if (!this.#isGone()) {
      this.#child.stdin?.end()
      this.#child.kill('SIGTERM')
      this.#cancelTimer = this.#options.clock.after(TERMINATE_MS, () => this.#child.kill('SIGKILL'))
    }
    await this.#ended
  }

  #isGone(): boolean {
    const { exitCode, signalCode, pid } = this.#child
    return pid === undefined || exitCode !== null || signalCode !== null
  }

  /** Its last lines may still come. The timer that would kill it has nothing to do any more. */
  #closeOutputSoon(): void {
    this.#cancelTimer()
    this.#cancelTimer = this.#options.clock.after(DRAIN_MS, () => {
      this.#child.stdout?.destroy()
      this.#child.stderr?.destroy()
    })
  }

  #onComplaint(line: Uint8Array): void {
    this.#explanation = this.#options.explain?.(Buffer.from(line).toString()) ?? this.#explanation
    this.#logComplaint(line.length)
  }

  #logComplaint(bytes: number): void {
    this.#complaints += 1
    if (this.#complaints > MAX_LOGGED_LINES) return
    const { command, name = command, logger } = this.#options
    logger.debug('A clipboard helper wrote to stderr', { name, bytes })
  }
}

function describeEnd(name: string, code: number | null, signal: string | null): string {
  return `"${name}" ended with ${signal === null ? `exit code ${code}` : signal}`
}

interface LineSplitterOptions {
  /** Longest line, without its end. */
  readonly maxLineBytes: number
  /** The bytes are valid until it returns. */
  readonly onLine: (line: Uint8Array) => void
  /** A line was too long; called once for each, when it passes the limit. */
  readonly onRefused: () => void
}

const LF = 0x0a
const CR = 0x0d

/**
 * Cuts a stream of bytes into lines, which end with LF or CRLF. Lines that are too long are
 * refused, and dropped as they come, so that no writer can fill the memory. Bytes after the last
 * line end are no line yet.
 */
export class LineSplitter {
  readonly #options: LineSplitterOptions
  #begun: GrowingBuffer | undefined
  #isSkipping = false

  constructor(options: LineSplitterOptions) {
    this.#options = options
  }

  push(chunk: Uint8Array): void {
    let start = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#finish(chunk.subarray(start, end))
      start = end + 1
    }
    this.#keep(chunk.subarray(start))
  }

  #finish(part: Uint8Array): void {
    const whole = this.#begun === undefined ? part : this.#join(part)
    const wasSkipping = this.#isSkipping
    this.#begun = undefined
    this.#isSkipping = false
    if (wasSkipping) return
    const line = whole.at(-1) === CR ? whole.subarray(0, -1) : whole
    if (line.length > this.#options.maxLineBytes) this.#options.onRefused()
    else this.#options.onLine(line)
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0 || this.#isSkipping) return
    const { length } = this.#join(part)
    // One byte more than a line may have could be the CR of its end.
    if (length <= this.#options.maxLineBytes + 1) return
    this.#begun = undefined
    this.#isSkipping = true
    this.#options.onRefused()
  }

  /** Joins `part` to what came of the line before. */
  #join(part: Uint8Array): Uint8Array {
    this.#begun ??= new GrowingBuffer()
    this.#begun.append(part)
    return this.#begun.filled
  }
}
