/**
 * Everything that the panel shows, as one value.
 *
 * Imports nothing of Node: the page takes its types from here.
 * @module
 */

import type { Item, Sender } from '../core/item.ts'
import { MIB } from '../core/limits.ts'
import { essenceOf } from '../core/media-type.ts'
import type { Admin, DaemonStatus, DeviceSummary } from '../ports/admin.ts'
import type { StoredItem } from '../ports/latest-item.ts'
import type { Happened, Panel, PanelAddress, RecentItem } from '../ports/panel.ts'
import type { Transfer } from '../ports/transfers.ts'

/** The part of an item that the panel can show: the beginning of a text, or a raster image. */
type PreviewKind = 'text' | 'image'

/** The current item, without its content. */
export interface PanelItem
  extends Pick<Item, 'type' | 'dataName' | 'mediaType' | 'size' | 'contentId'> {
  /** Unix milliseconds. */
  readonly activatedAtMs: number
  /** The kind of answer that `GET /item/preview` gives. */
  readonly preview: PreviewKind | undefined
  /** `undefined` where an earlier version kept it. */
  readonly sender: Sender | undefined
}

/** A recent item that can be made current again, without its content. */
export interface PanelRecent extends Pick<RecentItem, 'id' | 'type' | 'dataName' | 'size'> {
  /** The kind of answer that `GET /recent/{id}` gives. */
  readonly preview: PreviewKind | undefined
  /** Unix milliseconds. */
  readonly activatedAtMs: number
  readonly sender: Sender | undefined
}

/** The bytes of a file on their way. */
export interface PanelTransfer extends Omit<Transfer, 'bytes'> {
  readonly bytes: number
}

/** Everything that the panel shows. */
export interface PanelState {
  readonly status: DaemonStatus
  readonly item: PanelItem | undefined
  /** The newest first. */
  readonly recent: readonly PanelRecent[]
  readonly transfers: readonly PanelTransfer[]
  readonly receivedDir: string | undefined
  readonly devices: readonly DeviceSummary[]
  readonly addresses: readonly PanelAddress[]
  /** The newest first. */
  readonly happenings: readonly Happened[]
}

const MAX_IMAGE_BYTES = 20 * MIB

/** Pictures that every browser draws, and none runs: no SVG. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(
  ['png', 'jpeg', 'gif', 'webp', 'bmp', 'avif'].map((name) => `image/${name}`),
)

/** Reads the state as it is now. */
export async function readPanelState(
  admin: Pick<Admin, 'status' | 'devices'>,
  panel: Pick<Panel, 'item' | 'addresses' | 'recent' | 'happenings' | 'transfers' | 'receivedDir'>,
): Promise<PanelState> {
  const [status, devices] = await Promise.all([admin.status(), admin.devices()])
  const { item, recent, transfers, receivedDir } = panel
  return {
    status,
    item: item && describe(item),
    recent: recent.list.map(describeRecent),
    transfers: transfers.list.map((one) => ({ ...one, bytes: one.bytes() })),
    receivedDir,
    devices,
    addresses: panel.addresses(),
    happenings: panel.happenings.list,
  }
}

/** The kind of preview that an item has; `undefined` when it has none, as every file. */
export function previewKind(
  item: Pick<Item, 'type' | 'size' | 'mediaType'>,
  blob: unknown,
): PreviewKind | undefined {
  if (item.type === 'Text') return 'text'
  const isSmall = item.size <= MAX_IMAGE_BYTES
  const isImage = item.type === 'Image' && IMAGE_TYPES.has(essenceOf(item.mediaType))
  return blob !== undefined && isSmall && isImage ? 'image' : undefined
}

function describe({ item, blob }: StoredItem): PanelItem {
  const { type, dataName, mediaType, size, contentId, activatedAt, sender } = item
  const preview = previewKind(item, blob)
  const what = { type, dataName, mediaType, size, contentId }
  return { ...what, activatedAtMs: activatedAt, preview, sender }
}

function describeRecent(recent: RecentItem): PanelRecent {
  const { id, type, dataName, size, activatedAt, sender, blob } = recent
  const preview = previewKind(recent, blob)
  return { id, type, dataName, size, activatedAtMs: activatedAt, preview, sender }
}
