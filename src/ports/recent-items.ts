/** Port: what was current lately, for the owner alone. @module */

import type { Item } from '../core/item.ts'

/** Who made an item current. */
export interface Sender {
  readonly kind: 'clipboard' | 'device' | 'peer'
  /** Id of a device, or of the owner who pushed it here; `undefined` where there is none. */
  readonly deviceId: string | undefined
}

/** An item that can be made current again. */
export interface RecentItem extends Pick<Item, 'type' | 'text' | 'dataName' | 'mediaType'> {
  /** Names it until the daemon ends. */
  readonly id: string
  /** In bytes. */
  readonly size: number
  /** When it became current, in Unix milliseconds. */
  readonly activatedAt: number
  readonly sender: Sender
}

/** The items of late, which are kept in memory, and nowhere else. */
export interface RecentItems {
  /** The newest first. */
  readonly list: readonly RecentItem[]

  /** Who made an item current; `undefined` when that was before this daemon started. */
  senderOf(item: Item): Sender | undefined

  /**
   * Makes one current again, as if the owner had pushed it.
   *
   * @returns Whether it was there still.
   * @throws {DomainError} As `InboundPipeline.apply`, and `BlobStore.receive`.
   */
  activate(id: string): Promise<boolean>

  /** Forgets all of them. */
  forget(): void

  /** Calls `listener` whenever the list has changed. @returns Ends the subscription. */
  onChange(listener: () => void): () => void
}
