/**
 * The real control listener over a daemon that is made up: what the panel looks like in each state.
 *
 * Its links hold a password that opens nothing.
 * @module
 */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createControl } from '../../../src/control/create-control.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { formatConnectLink } from '../../../src/link/connect-link.ts'
import { createIdlePeers } from '../../../src/peers/peer-connections.ts'
import type { Admin, DaemonStatus, DeviceSummary, Pairing } from '../../../src/ports/admin.ts'
import type { PanelAddress } from '../../../src/ports/panel.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { FakePanel } from '../../support/fake-panel.ts'
import { STATUS } from '../../support/fake-admin.ts'
import { MemoryPeerStore } from '../../support/memory-peer-store.ts'

/** Now, for everything here: pictures should not change with the time of the day. */
export const NOW: number = Date.UTC(2026, 4, 16, 12, 30)

const TOKEN = 'showroom'

const URL_OF_GATEWAY = 'http://192.168.1.20:42720'

const ADDRESSES: readonly PanelAddress[] = [
  { url: URL_OF_GATEWAY, via: 'eth0', kind: 'lan' },
  { url: 'http://100.101.7.3:42720', via: 'tailscale0', kind: 'overlay' },
]

class ShownPanel extends FakePanel {
  override addresses(): readonly PanelAddress[] {
    return ADDRESSES
  }
}

export interface Showroom {
  readonly panel: FakePanel
  devices: readonly DeviceSummary[]
  status: Partial<DaemonStatus>
  /** Shows what was changed. */
  show(): void
  /** Serves it, on the same port each time. */
  open(): Promise<void>
  /** The daemon goes away. */
  close(): void
  /** The address that lets a browser in. */
  address(): Promise<string>
}

export function createShowroom(): Showroom {
  const panel = new ShownPanel(() => NOW)
  let devices: readonly DeviceSummary[] = []
  let status: Partial<DaemonStatus> = {}
  let port = 0

  const peers = createIdlePeers(new MemoryPeerStore())

  const admin: Admin = {
    status: async () => ({ ...STATUS, ...status, paused: panel.paused }),
    devices: async () => devices,
    pair: async ({ label = 'Phone', url }) => {
      const pairing = pairingOf('did_new', label, url)
      const { id, username } = pairing
      devices = [...devices, deviceOf({ id, label, username })]
      panel.change()
      return pairing
    },
    rotate: async (id, url) => pairingOf(id, 'Pixel 9', url),
    revoke: async (id) => ({ id, unsaved: undefined }),
    join: (request) => peers.join(request),
    leave: (name) => peers.leave(name),
    peers: async () => peers.list(),
    close: async () => undefined,
  }
  const server = createServer()
  const control = createControl({
    admin,
    panel,
    token: TOKEN,
    clock: { ...systemClock, now: () => NOW },
    logger: new CaptureLogger(),
  })
  server.on('request', control.listener)

  return {
    panel,
    get devices() {
      return devices
    },
    set devices(value) {
      devices = value
    },
    get status() {
      return status
    },
    set status(value) {
      status = value
    },
    show: () => panel.change(),
    async open() {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      // An address without a path is always an object.
      port = (server.address() as AddressInfo).port
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
    async address() {
      const headers = { authorization: `Bearer ${TOKEN}` }
      const response = await fetch(`http://127.0.0.1:${port}/panel`, { headers })
      const answer: unknown = await response.json()
      if (typeof answer === 'object' && answer !== null && 'url' in answer)
        return String(answer.url)
      throw new Error(`There is no address: ${response.status}`)
    },
  }
}

/** A device that was never seen, unless `known` says more. */
export function deviceOf(
  known: Partial<DeviceSummary> & Pick<DeviceSummary, 'id' | 'label' | 'username'>,
): DeviceSummary {
  return {
    kind: 'phone',
    createdAt: new Date(NOW).toISOString(),
    lastSeenAt: undefined,
    lastSeenAddress: undefined,
    lastClient: undefined,
    streams: 0,
    active: true,
    ...known,
  }
}

function pairingOf(id: string, label: string, url: string = URL_OF_GATEWAY): Pairing {
  const username = 'mobile_5e6f7a8b'
  const password = 'only-for-the-pictures1'
  const o = { did: id, label, proto: 'syncclipboard' }
  const link = formatConnectLink({ url, user: username, pwd: password, o })
  return { id, kind: 'phone', label, username, password, url, link, warning: undefined }
}
