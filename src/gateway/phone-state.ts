/**
 * The facts that the phone page shows besides the document, for paired devices: which computer this
 * is, from whom the item came, and the recent items.
 *
 * A device reads no recent item that became current before it was paired.
 * @module
 */

import { beginningOf, type Sender } from '../core/item.ts'
import { OWNER_ID } from '../core/owner.ts'
import { route, type Route } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import { json } from '../http/reply.ts'
import type { Device } from '../ports/device-registry.ts'
import type { RecentItem } from '../ports/panel.ts'
import type { GatewayPorts } from './gateway-ports.ts'

/** The length of the beginning of a recent text, in characters. */
const MAX_LINE_CHARACTERS = 120

type StatePorts = Pick<GatewayPorts, 'latest' | 'devices' | 'computer'>

/** The routes of the phone page for devices. */
export function phoneStateRoutes(ports: StatePorts): readonly Route<Device>[] {
  const { latest, computer } = ports
  return [
    route<Device, '/phone/state'>('GET', '/phone/state', ({ principal }) => {
      const item = latest.current?.item
      return json({
        id: computer?.id,
        name: computer?.name,
        paused: computer?.isPaused() ?? false,
        https: computer?.https?.(),
        item: item && { activatedAt: item.activatedAt, from: nameOf(item.sender, ports) },
        recent: recentOf(ports, principal).map((one) => {
          const { id, type, dataName, size, activatedAt } = one
          const line = beginningOf(one.text.trimStart(), MAX_LINE_CHARACTERS)
          const from = nameOf(one.sender, ports)
          return { id, type, dataName, size, activatedAt, from, ...(type === 'Text' && { line }) }
        }),
      })
    }),
    route<Device, '/phone/recent/{id}'>('GET', '/phone/recent/{id}', (call) => {
      const recent = recentOf(ports, call.principal).find(({ id }) => id === call.params.id)
      if (recent?.type !== 'Text') throw new HttpError('NOT_FOUND')
      const headers = ['Content-Type', 'text/plain; charset=utf-8']
      return { status: 200, headers, body: recent.blob }
    }),
  ]
}

/** The recent items but the current one that a device may read. */
export function recentOf(
  { latest, computer }: StatePorts,
  { id }: Pick<Device, 'id'>,
): readonly RecentItem[] {
  if (computer?.showsRecent !== true) return []
  const current = latest.current?.item
  return computer.recent.list.filter(({ readers, contentHash, dataName }) => {
    const isCurrent = contentHash === current?.contentHash && dataName === current.dataName
    return readers.has(id) && !isCurrent
  })
}

function nameOf(sender: Sender | undefined, { devices, computer }: StatePorts): string | undefined {
  if (sender === undefined) return undefined
  const { kind, deviceId = '' } = sender
  if (kind === 'clipboard' || deviceId === OWNER_ID) return computer?.name
  return devices.find(deviceId)?.label
}
