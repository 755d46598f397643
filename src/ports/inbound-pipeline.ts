/** Port: the one way in. Every item, whoever sends it, becomes current here. @module */

import type { ContentId } from '../core/content-id.ts'
import type { Item, ItemType } from '../core/item.ts'
import type { Stamp } from '../core/stamp.ts'
import type { HashedBlob } from './blob.ts'
import type { Login } from './device-registry.ts'

/** Who an item comes from. */
export type Origin =
  | ({ readonly kind: 'device' } & Login)
  /**
   * `copiedAt`: when, as stamps have it; what happened since comes first. `mayBeOld`: found at a
   * start; it is left out if it was replaced by an item that this says.
   */
  | {
      readonly kind: 'clipboard'
      readonly copiedAt?: number
      readonly mayBeOld?: ((current: Item) => boolean) | undefined
    }
  /** Another member of the circle; with `deviceId` it pushed the item, else we pulled it. */
  | ({ readonly kind: 'peer'; readonly stamp: Stamp } & (Login | { readonly deviceId: undefined }))

/**
 * Where the bytes of an item are: nowhere (a Text, or an item that is already here), staged by the
 * sender under the item's name, received with it, or several that the sender has staged. Bytes that
 * came with a record of the item may be staged under another name, and are no others than these.
 */
export type InboundBytes =
  | { readonly kind: 'none' }
  /** Those of a long Text, of which `text` is the beginning. They are handed over. */
  | { readonly kind: 'utf8'; readonly utf8: Uint8Array<ArrayBuffer> }
  | {
      readonly kind: 'staged'
      readonly kept?: KeptBytes | undefined
      /** Whether the sender hashes as we do: a hash that does not fit is of something else. */
      readonly isExact?: boolean | undefined
    }
  | { readonly kind: 'received'; readonly blob: HashedBlob; readonly mediaType: string }
  | BatchBytes

/**
 * Uploads of a batch, staged by the sender. With the type Group they become one archive; with any
 * other there is one. Each is also to be kept as a file, where the daemon keeps files.
 */
export interface BatchBytes {
  readonly kind: 'batch'
  readonly batch: string
  /** At least one, and none twice. */
  readonly numbers: readonly number[]
}

/** The name that bytes are staged under, and their SHA-256 in lower-case hex. */
export interface KeptBytes {
  readonly dataName: string
  readonly contentHash: string
}

/** An item as its sender describes it, before any of it is trusted. */
export interface InboundItem {
  readonly origin: Origin
  readonly type: ItemType
  readonly text: string
  /** Empty, or a valid data name. */
  readonly dataName: string
  /** The hash that the sender gave; becomes an alias. Empty when there was none. */
  readonly hash: string
  readonly bytes: InboundBytes
  /** The media type of the bytes, as another member says; counts where they are here already. */
  readonly mediaType?: string | undefined
}

/** The result of applying an item. */
export interface AppliedItem {
  /** That of the current item now, or of an empty Text where there is none. */
  readonly contentId: ContentId
  /** The item that it became; `undefined` when it came too late, or was an empty Text. */
  readonly item: Item | undefined
  /**
   * There for a batch: resolves once its files have been saved in the folder of received files, to
   * whether that worked; to false where there is no such folder.
   */
  readonly saved?: Promise<boolean> | undefined
}

/**
 * Applies the items of one sender one at a time, in the order in which `apply` was called, and
 * those of different senders in turn: nobody waits while the bytes of somebody else are read.
 */
export interface InboundPipeline {
  /**
   * Identifies, stores and publishes an item. Once it resolves, the item is what
   * `GET /Sync.json` returns, durably; writing the system clipboard and telling peers happens
   * afterwards and cannot fail the call. It takes `received` bytes over. When it rejects, nothing
   * has changed, and the bytes still belong to the caller.
   *
   * What a peer sends becomes current only when its place is later than that of the current item.
   * When its whole document is that of the current item, only the stamp is taken over: no effect
   * runs, and only members are told.
   *
   * @throws {DomainError} `NOTHING_STAGED`, `GROUP_TOO_LARGE`, `PACKAGE_MISSING`,
   *   `TEXT_TOO_LARGE`, `TEXT_NOT_UTF8`, `STAMP_AHEAD`, `NO_SPACE`, `BLOB_GONE`;
   *   `CREDENTIAL_GONE` when the credential of the sender ended before it was stored.
   */
  apply(inbound: InboundItem): Promise<AppliedItem>
}
