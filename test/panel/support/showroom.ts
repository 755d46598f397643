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
import { formatConnectLink, pageLinkOf } from '../../../src/link/connect-link.ts'
import type { DaemonStatus, DeviceSummary, Pairing } from '../../../src/ports/admin.ts'
import type { PanelAddress } from '../../../src/ports/panel.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { createFakeAdmin, STATUS } from '../../support/fake-admin.ts'
import { FakePanel } from '../../support/fake-panel.ts'
import { readObject } from '../../support/phone.ts'

/** Now, for everything here: pictures should not change with the time of the day. */
export const NOW: number = Date.UTC(2026, 4, 16, 12, 30)

const TOKEN = 'showroom'

const GATEWAY = 'http://192.168.1.20:42720'

class ShownPanel extends FakePanel {
  secure: readonly PanelAddress[] = []

  override addresses(): readonly PanelAddress[] {
    const overlay = { url: 'http://100.101.7.3:42720', via: 'tailscale0', kind: 'overlay' } as const
    return [{ url: GATEWAY, via: 'eth0', kind: 'lan' }, overlay, ...this.secure]
  }
}

export type Showroom = Awaited<ReturnType<typeof createShowroom>>

export async function createShowroom() {
  const panel = new ShownPanel(() => NOW)
  /** What the daemon tells; `panel.change()` shows what was changed here. */
  const told: { devices: readonly DeviceSummary[]; status: Partial<DaemonStatus> } = {
    devices: [],
    status: {},
  }
  const admin = {
    ...(await createFakeAdmin()),
    status: async () => ({ ...STATUS, ...told.status, paused: panel.paused }),
    devices: async () => told.devices,
    pair: async ({
      label = 'Phone',
      url,
    }: {
      label?: string | undefined
      url?: string | undefined
    }) => {
      const pairing = pairingOf('did_new', label, url)
      const { id, username } = pairing
      told.devices = [...told.devices, deviceOf({ id, label, username })]
      panel.change()
      return pairing
    },
    rotate: async (id: string, url?: string) => pairingOf(id, 'Pixel 9', url),
  }
  const clock = { ...systemClock, now: () => NOW }
  const control = createControl({ admin, panel, token: TOKEN, clock, logger: new CaptureLogger() })
  const server = createServer(control.listener)
  let port = 0

  /** Serves it, on the same port each time. */
  async function open(): Promise<void> {
    await once(server.listen(port, '127.0.0.1'), 'listening')
    // An address with a port is always an object.
    port = (server.address() as AddressInfo).port
  }

  /** The daemon goes away. */
  function close(): void {
    server.close()
    server.closeAllConnections()
  }

  /** The address that lets a browser in. */
  async function address(): Promise<string> {
    const headers = { authorization: `Bearer ${TOKEN}` }
    const { url } = await readObject(await fetch(`http://127.0.0.1:${port}/panel`, { headers }))
    return String(url)
  }

  return { panel, told, open, close, address }
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
    refused: undefined,
    active: true,
    ...known,
  }
}

function pairingOf(id: string, label: string, url: string = GATEWAY): Pairing {
  const username = 'mobile_5e6f7a8b'
  const password = 'only-for-the-pictures1'
  const o = { did: id, label, proto: 'syncclipboard' }
  const link = formatConnectLink({ url, user: username, pwd: password, o })
  const page = pageLinkOf(link, url)
  return { id, kind: 'phone', label, username, password, url, link, page, warning: undefined }
}
