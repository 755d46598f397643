/**
 * The port `Panel` of a running daemon: puts together what its parts tell.
 *
 * @module
 */

import type { Gateway } from '../gateway/create-gateway.ts'
import type { GroupBus } from '../peers/bus/open-group-bus.ts'
import type { PeerLinks } from '../peers/peer-links.ts'
import type { Panel } from '../ports/panel.ts'
import type { Listeners } from './listeners.ts'
import type { Clipboard } from './open-clipboard.ts'
import type { Desktop } from './open-desktop.ts'

export interface PanelParts {
  readonly clipboard: Pick<Clipboard, 'latest' | 'changes' | 'devices' | 'storage'>
  readonly desktop: Pick<Desktop, 'pause' | 'resume' | 'onChange'>
  readonly gateway: Pick<Gateway, 'onStreams'>
  readonly listeners: Pick<Listeners, 'onChange'>
  readonly peers: Pick<PeerLinks, 'onChange'>
  readonly bus: Pick<GroupBus, 'onChange'> | undefined
  readonly addresses: Panel['addresses']
}

export function createPanel(parts: PanelParts): Panel {
  const { clipboard, desktop, gateway, listeners, peers, bus, addresses } = parts
  const { latest, changes, devices, storage } = clipboard
  return {
    get item() {
      return latest.current
    },
    addresses,
    pause: desktop.pause,
    resume: desktop.resume,
    onChange: (listener) => {
      const subscriptions = [
        changes.subscribe(() => listener()),
        devices.onChange(listener),
        storage.staging.onChange(listener),
        gateway.onStreams(listener),
        listeners.onChange(listener),
        peers.onChange(listener),
        desktop.onChange(listener),
        ...(bus === undefined ? [] : [bus.onChange(listener)]),
      ]
      return () => {
        for (const unsubscribe of subscriptions) unsubscribe()
      }
    },
  }
}
