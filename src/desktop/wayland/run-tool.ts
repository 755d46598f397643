/**
 * Runs a small program to its end, and takes what it prints.
 *
 * It is killed, with what it started, when it prints too much, when it prints nothing for too long
 * or too little in all, and when nobody wants the result any more.
 * @module
 */

import { spawn } from 'node:child_process'
import { GrowingBuffer } from '../../lib/growing-buffer.ts'
import { codeOf } from '../../lib/system-error.ts'
import type { Clock } from '../../lib/clock.ts'
import { CopyTooLarge, describeStart } from '../clipboard-errors.ts'
import { startPace } from '../transfer-pace.ts'

/** How a tool is run. */
export interface ToolOptions {
  readonly env: NodeJS.ProcessEnv
  readonly clock: Clock
  readonly maxBytes: number
  readonly signal?: AbortSignal | undefined
}

interface ToolResult {
  readonly isSuccess: boolean
  readonly output: Uint8Array
}

/** Longest time without a byte. */
const STALL_MS = 5000

/**
 * Runs it without input.
 *
 * @throws {CopyTooLarge} Past `maxBytes`.
 * @throws {Error} When it is not installed, prints nothing for 5 s, or too little for too long.
 * @throws `signal.reason` when aborted.
 */
export async function runTool(
  command: string,
  args: readonly string[],
  { env, clock, maxBytes, signal }: ToolOptions,
): Promise<ToolResult> {
  signal?.throwIfAborted()
  // `detached`: a group of its own, which can be killed with everything in it.
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  const output = new GrowingBuffer()
  const checkPace = startPace(clock)
  let failure: unknown
  let cancelTimeout: () => void = () => undefined

  const stop = (reason: unknown): void => {
    failure ??= reason
    killGroup(child.pid)
    child.stdout.destroy()
  }
  const onAbort = (): void => stop(signal?.reason)
  const expectBytes = (): void => {
    cancelTimeout()
    cancelTimeout = clock.after(STALL_MS, () => stop(new Error(`"${command}" does not answer`)))
  }
  expectBytes()
  signal?.addEventListener('abort', onAbort)
  child.stdout.on('data', (chunk: Buffer) => {
    if (output.filled.length + chunk.length > maxBytes) {
      const size = output.filled.length + chunk.length
      return stop(new CopyTooLarge({ maxBytes, size }))
    }
    output.append(chunk)
    try {
      checkPace(output.filled.length)
    } catch (error) {
      return stop(error)
    }
    expectBytes()
  })
  child.on('error', (error) => (failure ??= new Error(describeStart(command, error))))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  cancelTimeout()
  signal?.removeEventListener('abort', onAbort)
  if (failure !== undefined) throw failure
  return { isSuccess: code === 0, output: output.filled }
}

/** Ends a process that was started `detached`, and what it started. */
export function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // It has ended meanwhile.
    if (codeOf(error) !== 'ESRCH') throw error
  }
}
