/**
 * What became current on a daemon, in order, as its event stream tells it: each item once, so that
 * echoes and loops are seen.
 * @module
 */

import type { TestContext } from 'node:test'
import { openEvents, type EventReader } from '../../support/event-reader.ts'

export class ItemLog {
  readonly #ids: string[] = []
  #waiting: readonly (() => void)[] = []

  /** Listens from now on. */
  static async open(t: TestContext, url: string, authorization: string): Promise<ItemLog> {
    const events = await openFor(t, url, authorization)
    await events.next()
    const log = new ItemLog()
    // It ends with the daemon, or with the test.
    log.#read(events).catch(() => undefined)
    return log
  }

  /** Content ids; `resync` where the stream left something out. */
  get ids(): readonly string[] {
    return this.#ids
  }

  /** Resolves when this has become current `times` times. */
  async has(contentId: string, times = 1): Promise<void> {
    while (this.#ids.filter((id) => id === contentId).length < times) {
      await new Promise<void>((resolve) => (this.#waiting = [...this.#waiting, resolve]))
    }
  }

  async #read(events: EventReader): Promise<void> {
    for (let frame = await events.next(); frame !== undefined; frame = await events.next()) {
      if (!('event' in frame)) continue
      this.#ids.push(frame.event === 'update' ? String(frame.data['content_id']) : frame.event)
      const woken = this.#waiting
      this.#waiting = []
      for (const wake of woken) wake()
    }
  }
}

/** A daemon that has to check many passwords at once asks to come again. */
async function openFor(t: TestContext, url: string, authorization: string): Promise<EventReader> {
  for (;;) {
    const events = await openEvents(t, url, authorization)
    if (events.response.statusCode !== 503) return events
    events.close()
  }
}
