/** Time and chance that belong to the test. @module */

import { FakeClock } from '../../support/fake-clock.ts'
import { Mailbox } from '../../support/mailbox.ts'

export class ClientClock extends FakeClock {
  /** What a client takes for chance. */
  chance = 0.5
  /** Delays of the timers, as they are set. */
  readonly set: Mailbox<number> = new Mailbox()

  /** Forgets the timers that were set so far. */
  async settle(): Promise<void> {
    while (this.set.size > 0) await this.set.next()
  }

  override after(delayMs: number, run: () => void): () => void {
    const cancel = super.after(delayMs, run)
    this.set.put(delayMs)
    return cancel
  }
}
