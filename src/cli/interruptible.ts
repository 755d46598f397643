/** Lets a command clean up before a signal ends it. @module */

import { CommandError } from './command.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] as const

/**
 * Runs something that rejects soon after its signal has aborted. Then the program ends as if nobody
 * had listened, so that a shell sees what happened. Not for what waits for stdout: while that
 * blocks, no listener runs.
 */
export async function interruptible<Result>(
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  let received: NodeJS.Signals | undefined
  const onSignal = (name: NodeJS.Signals): void => {
    received = name
    controller.abort(new CommandError('Cannot go on: the command was interrupted'))
  }
  for (const name of SIGNALS) process.once(name, onSignal)
  try {
    return await run(controller.signal)
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal)
    // Windows ends itself for one signal as for another, and knows few of them.
    const name = process.platform === 'win32' ? 'SIGTERM' : received
    if (received !== undefined) process.kill(process.pid, name)
  }
}
