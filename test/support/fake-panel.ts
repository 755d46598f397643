/** A panel whose daemon is played by the test. @module */

import { Subscribers } from '../../src/lib/subscribers.ts'
import type { Pause } from '../../src/ports/admin.ts'
import type { StoredItem } from '../../src/ports/latest-item.ts'
import type {
  Happened,
  Panel,
  PanelAddress,
  RecentItem,
  RecentItems,
} from '../../src/ports/panel.ts'
import type { Transfer } from '../../src/ports/transfers.ts'

export class FakePanel implements Panel {
  item: StoredItem | undefined
  /** The pause there is. */
  paused: Pause | undefined
  /** What `pause` and `resume` fail with. */
  failure: Error | undefined
  receivedDir: string | undefined
  readonly transfers: { list: readonly Transfer[] } = { list: [] }
  readonly happenings: { list: readonly Happened[] } = { list: [] }
  readonly recent: FakeRecentItems = new FakeRecentItems()
  readonly #watchers = new Subscribers()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  addresses(): readonly PanelAddress[] {
    return [{ url: 'http://192.168.1.20:42720', via: 'eth0', kind: 'lan' }]
  }

  async pause(durationMs: number | undefined): Promise<Pause> {
    if (this.failure !== undefined) throw this.failure
    const pause = { untilMs: durationMs === undefined ? undefined : this.#now() + durationMs }
    this.paused = pause
    this.change()
    return pause
  }

  async resume(): Promise<void> {
    if (this.failure !== undefined) throw this.failure
    this.paused = undefined
    this.change()
  }

  /** Whether the daemon was asked to end. */
  isStopping = false

  stop(): void {
    this.isStopping = true
  }

  async openReceived(): Promise<boolean> {
    return this.receivedDir !== undefined
  }

  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  /** Whether anybody listens. */
  get isWatched(): boolean {
    return !this.#watchers.isEmpty
  }

  /** Something changed. */
  change(): void {
    this.#watchers.notify()
  }
}

/** Recent items that a test puts there. */
export class FakeRecentItems implements RecentItems {
  list: readonly RecentItem[] = []
  /** Ids that were made current again. */
  readonly activated: string[] = []

  async activate(id: string): Promise<boolean> {
    if (!this.list.some((item) => item.id === id)) return false
    this.activated.push(id)
    return true
  }

  forget(id?: string): boolean {
    const { length } = this.list
    this.list = this.list.filter((item) => id !== undefined && item.id !== id)
    return this.list.length < length
  }

  onChange(): () => void {
    return () => undefined
  }
}
