/** The gateway with TLS, beside the plain one, if the settings ask for it. @module */

import type { RequestListener } from 'node:http'
import type { TlsStatus } from '../ports/admin.ts'
import type { PanelAddress } from '../ports/panel.ts'
import type { Station } from '../station/open-station.ts'
import { listSecureAddresses, readInterfaces } from './addresses.ts'
import type { HostPort } from './host-port.ts'
import type { Listeners } from './listeners.ts'
import { tlsListen, type Settings } from './settings.ts'

/** The gateway with TLS. */
export interface Tls {
  /** Where it is bound. */
  readonly bound: readonly HostPort[]
  /** The URLs that its certificate is good for, the likeliest first. */
  addresses(): readonly PanelAddress[]
  status(): TlsStatus
  /** Calls `listener` when {@link status} may tell something else. @returns Ends that. */
  onChange(listener: () => void): () => void
  close(): void
}

/** The gateway without TLS, which TLS is put in front of. */
export interface Plain {
  readonly listeners: Listeners
  readonly gateway: RequestListener
  /** Where it is bound without TLS. */
  readonly plain: readonly HostPort[]
}

/**
 * Opens what the settings name, and listens. Loads nothing where they name nothing.
 *
 * @throws {Error} when a file cannot be used, or an address cannot be bound.
 */
export async function openTls(
  settings: Settings,
  { clock, logger }: Pick<Station, 'clock' | 'logger'>,
  { listeners, gateway, plain }: Plain,
): Promise<Tls | undefined> {
  const { tlsCert: cert, tlsKey: key } = settings
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) {
    throw new Error('Cannot use --tls-cert without --tls-key, nor the key without the certificate')
  }
  const { openIdentityFiles } = await import('../tls/identity-files.ts')
  const served = await openIdentityFiles({ cert, key, clock, logger })
  const wanted = tlsListen(settings, plain)
  const bound = await listeners
    .startGateway(gateway, wanted, settings, () => served.context())
    .catch((error: unknown) => {
      served.close()
      throw error
    })
  const addresses = (): readonly PanelAddress[] =>
    listSecureAddresses(bound, readInterfaces(), served.current.names)
  return {
    bound,
    addresses,
    status: () => {
      const { notBefore, notAfter } = served.current
      return {
        source: 'files',
        urls: addresses().map(({ url }) => url),
        notBefore: new Date(notBefore).toISOString(),
        notAfter: new Date(notAfter).toISOString(),
        error: served.error,
      }
    },
    onChange: (listener) => served.onChange(listener),
    close: () => served.close(),
  }
}
