/**
 * Who made an item current, in words.
 * @module
 */

import { findDevice } from './state.ts'
import { strings } from './strings.ts'
import type { Sender } from './state.ts'

const words = strings.item.senders

/** The id of what was pushed on the machine of the daemon. */
const OWNER = 'owner'

/** @param sender `null` when nobody knows. */
export function describeSender(sender: Sender | null) {
  if (sender === null) return ''
  const { kind, deviceId } = sender
  if (kind === 'clipboard') return words.clipboard
  if (deviceId === OWNER) return words.owner
  const device = deviceId === null ? undefined : findDevice(deviceId)
  if (device !== undefined) return words.device(device.label)
  return kind === 'peer' ? words.other : words.removed
}
