/** Programs of others that tests use: compositors, X servers, brokers, proxies. @module */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'

/** Debian keeps servers in sbin, which is not on every user's path. */
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`

export interface ProgramOptions {
  /** All of its environment but `PATH`; by default that of the tests. */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** What it says once it is ready: on stdout, on stderr, or on descriptor 3. */
  readonly ready: RegExp
}

export interface RunningProgram {
  /** What it has said on stderr so far. */
  log(): string
  /** Resolves once it has said something that fits. @throws {Error} when it ends before. */
  says(pattern: RegExp): Promise<RegExpExecArray>
  /** It goes on without answering anybody, until it is thawed. */
  freeze(): void
  thaw(): void
  /** Ends it, by default as a crash does; resolves when it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>
}

/** Starts a program; resolves when it is ready. Nothing but `kill` ends it. */
export async function startProgram(
  [program = '', ...args]: readonly string[],
  { env = process.env, ready }: ProgramOptions,
): Promise<RunningProgram> {
  const child = spawn(program, args, {
    env: { ...env, PATH },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  // What it has started itself may keep its outputs open.
  const [exited, closed] = [once(child, 'exit'), once(child, 'close')]
  // Whoever waits hears of a failure; it is none where nobody does.
  for (const end of [exited, closed]) end.catch(() => undefined)
  const said = new Map<Readable, string>()
  const outputs = child.stdio.filter((pipe) => pipe instanceof Readable)
  for (const pipe of outputs) {
    pipe.setEncoding('utf8').on('data', (text: string) => {
      said.set(pipe, (said.get(pipe) ?? '') + text)
      child.emit('said')
    })
  }
  const log = (): string => (child.stderr && said.get(child.stderr)) ?? ''
  const running: RunningProgram = {
    log,
    says: async (pattern) => {
      for (;;) {
        for (const text of said.values()) {
          const found = pattern.exec(text)
          if (found !== null) return found
        }
        const more = once(child, 'said').then(() => true)
        if (!(await Promise.race([more, closed.then(() => false)])))
          throw new Error(`${program} ended: ${log()}`)
      }
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    kill: async (signal = 'SIGKILL') => {
      child.kill(signal)
      await exited
    },
  }
  await running.says(ready)
  return running
}
