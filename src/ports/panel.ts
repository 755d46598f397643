/** Port: what only a running daemon can be asked, unlike `Admin`; its panel shows it. @module */

import type { Happening } from '../core/happening.ts'
import type { Item, Sender } from '../core/item.ts'
import type { Admin, Pause } from './admin.ts'
import type { Blob } from './blob.ts'
import type { StoredItem } from './latest-item.ts'
import type { Transfers } from './transfers.ts'

/** One way for a phone to reach the gateway. */
export interface PanelAddress {
  /** Base URL. */
  readonly url: string
  /** The network interface; empty where none is known, as of a public URL. */
  readonly via: string
  readonly kind: 'lan' | 'overlay' | 'public' | 'loopback'
}

/** An item that can be made current again. */
export interface RecentItem
  extends Pick<Item, 'type' | 'dataName' | 'mediaType' | 'contentHash' | 'contentId'> {
  /** Names it until the daemon ends. */
  readonly id: string
  /** The beginning of a Text, 4 KiB at most; what its sender called any other. */
  readonly text: string
  /** In bytes. */
  readonly size: number
  /** When it became current, in Unix milliseconds. */
  readonly activatedAt: number
  readonly sender: Sender | undefined
  /** Ids of the devices that were paired by then, whatever the clock said: they may read it. */
  readonly readers: ReadonlySet<string>
  /** UTF-8 for a Text. Gone when it is not remembered any more, also for who reads them then. */
  readonly blob: Blob
}

/** The recent items, which are kept in memory, and nowhere else. */
export interface RecentItems {
  /** The newest first. */
  readonly list: readonly RecentItem[]

  /**
   * Makes one current again, as if the owner had pushed it.
   *
   * @returns Whether it was there still.
   * @throws {DomainError} As `InboundPipeline.apply`, and `BlobStore.receive`.
   */
  activate(id: string): Promise<boolean>

  /** Forgets one of them, or all. @returns Whether there was any. */
  forget(id?: string): boolean

  /** Calls `listener` whenever the list has changed. @returns Ends the subscription. */
  onChange(listener: () => void): () => void
}

/** Something that happened since the daemon was started. */
export interface Happened extends Happening {
  /** Counts from 1 on. */
  readonly id: number
  /** ISO 8601, UTC. */
  readonly at: string
}

/** The things that happened lately, which are kept in memory, and nowhere else. */
export interface HappeningsList {
  /** The newest first: 200 of them at most. */
  readonly list: readonly Happened[]

  /** Calls `listener` whenever something has happened. @returns Ends the subscription. */
  onChange(listener: () => void): () => void
}

/** The running daemon, for its panel. */
export interface Panel {
  /** The current item. */
  readonly item: StoredItem | undefined

  readonly recent: RecentItems

  readonly happenings: Pick<HappeningsList, 'list'>

  readonly transfers: Pick<Transfers, 'list'>

  /** Absolute path of the folder where pushed files land; `undefined` without a desktop. */
  readonly receivedDir: string | undefined

  /** Shows that folder to whoever sits at the desktop. @returns Whether that could be begun. */
  openReceived(): Promise<boolean>

  /** The most useful first. Loopback only when there is nothing else; never empty. */
  addresses(): readonly PanelAddress[]

  /**
   * Leaves the system clipboard alone, and shares nothing that is copied, until the time has come
   * or `resume` is called. It survives a restart. A pause that there is already is replaced.
   *
   * @param durationMs From 1 to `MAX_PAUSE_MS`; without it, until `resume` is called.
   * @throws {DomainError} `NO_CLIPBOARD` when the daemon has none; `DATA_DIRECTORY_UNUSABLE`, and
   *   nothing has changed then.
   */
  pause(durationMs: number | undefined): Promise<Pause>

  /** Ends the pause, if there is one. @throws {DomainError} As `pause`. */
  resume(): Promise<void>

  /** Makes the daemon end as a signal would, soon after this returns. */
  stop(): void

  /**
   * Calls `listener` whenever anything may have changed that `Admin.status`, `Admin.devices` or
   * this port tell, except the free space. Listeners return at once and do not throw. Costs nothing
   * while nobody listens.
   *
   * @returns Ends the subscription.
   */
  onChange(listener: () => void): () => void
}

/** A daemon that runs, as commands ask it. */
export interface RunningDaemon extends Admin, Pick<Panel, 'pause' | 'resume'> {
  /** The URL that opens the panel in a browser, for as long as this daemon runs. */
  panelUrl(): Promise<string>

  /** As the list in the port `Panel`. */
  happenings(): Promise<readonly Happened[]>

  /** Makes it end as a signal would. Resolves when it has begun to. */
  stop(): Promise<void>
}
