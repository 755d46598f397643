/**
 * Everything that the panel shows, as one value.
 *
 * @module
 */

import type { ItemType } from '../core/item-type.ts'
import type { Admin, DaemonStatus, DeviceSummary } from '../ports/admin.ts'
import type { StoredItem } from '../ports/latest-item.ts'
import type { Panel, PanelAddress } from '../ports/panel.ts'
import { previewKind, type PreviewKind } from './item-preview.ts'

/** The current item, without its content. */
export interface PanelItem {
  readonly type: ItemType
  readonly dataName: string
  readonly mediaType: string
  readonly size: number
  readonly contentId: string
  readonly activatedAtMs: number
  /** What `GET /item/preview` answers. */
  readonly preview: PreviewKind | undefined
}

export interface PanelState {
  readonly status: DaemonStatus
  readonly item: PanelItem | undefined
  readonly devices: readonly DeviceSummary[]
  readonly addresses: readonly PanelAddress[]
}

export async function readPanelState(
  admin: Pick<Admin, 'status' | 'devices'>,
  panel: Pick<Panel, 'item' | 'addresses'>,
): Promise<PanelState> {
  const [status, devices] = await Promise.all([admin.status(), admin.devices()])
  return { status, item: describe(panel.item), devices, addresses: panel.addresses() }
}

function describe(stored: StoredItem | undefined): PanelItem | undefined {
  if (stored === undefined) return undefined
  const { type, dataName, mediaType, size, contentId, activatedAt } = stored.item
  const preview = previewKind(stored)
  return { type, dataName, mediaType, size, contentId, activatedAtMs: activatedAt, preview }
}
