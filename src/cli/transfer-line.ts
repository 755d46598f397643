/**
 * How far the files are that are on their way to or from the daemon of this machine: a line at the
 * foot of a terminal that is written again and again.
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { openRunning } from '../daemon/open-admin.ts'
import { describeTransfer } from './quantities.ts'
import type { Screen, Shell } from './shell.ts'
import { cut } from './text-table.ts'
import { visible } from './visible.ts'

const PAUSE_MS = 1000

/** To the beginning of the line, and away with what is there. */
const ERASE = '\r\x1b[K'

/** The line. */
export class TransferLine {
  readonly #screen: Screen
  #shown = ''

  constructor({ stderr }: Pick<Shell, 'stderr'>) {
    this.#screen = stderr
  }

  /** Takes it away, so that something can be printed. It comes back by itself. */
  clear(): void {
    this.#show('')
  }

  /** Asks the daemon of a data directory once a second, until `signal` aborts. Never rejects. */
  async follow(dataDir: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // Whoever watches is told elsewhere that the daemon does not answer.
      const running = await openRunning(dataDir).catch(() => undefined)
      const transfers = (await running?.transfers().catch(() => undefined)) ?? []
      if (!signal.aborted) this.#show(transfers.map(describeTransfer).join('; '))
      // It rejects when it is aborted, and for nothing else.
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined)
    }
    this.clear()
  }

  #show(text: string): void {
    if (text === this.#shown) return
    this.#shown = text
    // A line that is broken in two cannot be erased.
    const width = (this.#screen.columns ?? 80) - 1
    this.#screen.write(ERASE + cut(visible(text), width))
  }
}
