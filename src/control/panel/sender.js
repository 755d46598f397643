// @ts-check
/**
 * Who made an item current, in words.
 * @module
 */

import { findDevice } from './state.js'
import { strings } from './strings.js'

/** @import { Sender } from './state.js' */

const words = strings.item.senders

/** The id of what was pushed on the machine of the daemon. */
const OWNER = 'owner'

/** @param {Sender | null} sender `null` when nobody knows. */
export function describeSender(sender) {
  if (sender === null) return ''
  const { kind, deviceId } = sender
  if (kind === 'clipboard') return words.clipboard
  if (deviceId === OWNER) return words.owner
  const device = deviceId === null ? undefined : findDevice(deviceId)
  if (device !== undefined) return words.device(device.label)
  return kind === 'peer' ? words.other : words.removed
}
