/** Tells somebody who watches what devices do. @module */

import type { Item } from '../core/item.ts'
import { OWNER_ID } from '../core/owner.ts'
import type { Station } from '../station/open-station.ts'

/** Somebody who watches what devices do. None of it throws. */
export interface Witness {
  /** A device has sent something. @param label `undefined` when it is not known any more. */
  sent(label: string | undefined, item: Pick<Item, 'type' | 'dataName' | 'size'>): void
}

/** Tells a witness of what devices send from now on. */
export function tellArrivals({ inbound, devices }: Station, witness: Witness | undefined): void {
  if (witness === undefined) return
  inbound.addEffect(async ({ item }, origin) => {
    if (origin.kind === 'clipboard' || origin.deviceId === OWNER_ID) return
    witness.sent(devices.find(origin.deviceId ?? '')?.label, item)
  })
}
