/** The gateway with TLS, beside the plain one, if the settings ask for it. @module */

import { existsSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { TlsStatus } from '../ports/admin.ts'
import type { PanelAddress } from '../ports/panel.ts'
import type { FindTrustFile } from '../ports/trust-file.ts'
import type { Station } from '../station/open-station.ts'
import { DiskPrivateFile } from '../storage/home/own-files.ts'
import type { IdentitySource } from '../tls/follow-identity.ts'
import type { trustFiles } from '../tls/trust-page.ts'
import {
  isNear,
  listSecureAddresses,
  NEARBY,
  readInterfaces,
  readOften,
  usefulAddresses,
} from './addresses.ts'
import { isWildcardHost, type HostPort } from './host-port.ts'
import type { Listeners } from './listeners.ts'
import { tlsListen, type Settings } from './settings.ts'

/** The gateway with TLS. */
export interface Tls {
  readonly bound: readonly HostPort[]
  /** The URLs that its certificate is good for, the likeliest first. */
  addresses(): readonly PanelAddress[]
  status(): TlsStatus
  /** Finds what tells phones to trust the authority, if it is one of ours. */
  readonly trust: FindTrustFile
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
  station: Pick<Station, 'clock' | 'logger' | 'directory'>,
  from: Plain,
): Promise<Tls | undefined> {
  const opened = await openSource(settings, station, from)
  if (opened === undefined) return undefined
  const { source, authority } = opened
  const { followIdentity } = await import('../tls/follow-identity.ts')
  const served = await followIdentity(source, station)
  const { listeners, gateway, plain } = from
  const wanted = tlsListen(settings, plain)
  const bound = await listeners
    .startGateway(gateway, wanted, settings, () => served.context())
    .catch((error: unknown) => {
      served.close()
      throw error
    })
  const addresses = (): readonly PanelAddress[] => {
    const { names } = served.current
    // Its own certificate has the name whether or not anybody can ask for it.
    const offered =
      authority === undefined || publishesName() ? names : names.filter((name) => !isMdns(name))
    return listSecureAddresses(bound, readInterfaces(), offered)
  }
  const urls = readOften(() => addresses().map(({ url }) => url), station.clock)
  return {
    bound,
    addresses,
    status: () => {
      const { notBefore, notAfter } = served.current
      return {
        source: authority === undefined ? 'files' : 'local',
        urls: addresses().map(({ url }) => url),
        notBefore: new Date(notBefore).toISOString(),
        notAfter: new Date(notAfter).toISOString(),
        fingerprint: authority?.fingerprint,
        error: served.error,
      }
    },
    trust:
      authority === undefined
        ? () => undefined
        : authority.trustFiles({ ...authority, urls }, settings.publicUrl),
    onChange: (listener) => served.onChange(listener),
    close: () => served.close(),
  }
}

/** Where the identity comes from, and the authority that phones are to trust. */
interface Opened {
  readonly source: IdentitySource
  readonly authority?: {
    readonly cert: string
    readonly fingerprint: string
    readonly trustFiles: typeof trustFiles
  }
}

async function openSource(
  settings: Settings,
  station: Pick<Station, 'clock' | 'directory'>,
  { plain }: Plain,
): Promise<Opened | undefined> {
  const { tls, tlsCert: cert, tlsKey: key } = settings
  if (tls === 'local') {
    if (cert === undefined && key === undefined)
      return openLocal(station, tlsListen(settings, plain))
    throw new Error('Cannot use --tls local with --tls-cert and --tls-key: choose one of the two')
  }
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) {
    throw new Error('Cannot use --tls-cert without --tls-key, nor the key without the certificate')
  }
  const { identityFiles } = await import('../tls/identity-files.ts')
  return { source: identityFiles(cert, key) }
}

async function openLocal(
  { clock, directory }: Pick<Station, 'clock' | 'directory'>,
  bound: readonly HostPort[],
): Promise<Opened> {
  const [{ AUTHORITY_FILE, openLocalIdentity }, { fingerprintOf }, { trustFiles }] =
    await Promise.all([
      import('../tls/local-identity.ts'),
      import('../tls/identity.ts'),
      import('../tls/trust-page.ts'),
    ])
  const path = join(directory.path, AUTHORITY_FILE)
  const host = hostName()
  const source = await openLocalIdentity({
    ...{ file: new DiskPrivateFile(path), path, clock, networks: NEARBY },
    name: host === undefined ? 'clipgate' : `clipgate on ${host}`,
    names: () => ownNames(host, bound),
  })
  const { authority: cert } = source
  return { source, authority: { cert, fingerprint: fingerprintOf(cert), trustFiles } }
}

/** The first label of the name of this machine, if it can be one of a host. */
function hostName(): string | undefined {
  const [label = ''] = hostname().toLowerCase().split('.')
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label) ? label : undefined
}

/** The names and addresses by which this machine may be found in its networks, and by itself. */
function ownNames(host: string | undefined, bound: readonly HostPort[]): readonly string[] {
  const named = bound.map((address) => address.host).filter((name) => isIP(name) !== 0)
  const addresses = [...usefulAddresses(readInterfaces()), ...named]
  const near = addresses.filter((address) => !isWildcardHost(address) && isNear(address))
  const whole = hostname().toLowerCase()
  const names = [
    ...(host === undefined ? [] : [`${host}.local`]),
    // Routers give such names out; a public one is for no authority of ours.
    ...(host !== undefined && /^[a-z0-9.-]+\.(?:lan|internal|home\.arpa)$/.test(whole)
      ? [whole]
      : []),
  ]
  return [...new Set([...names, 'localhost', ...near, '127.0.0.1', '::1'])]
}

function isMdns(name: string): boolean {
  return name.endsWith('.local')
}

/** Whether the system answers to `.local` names; macOS and Windows 10 do. */
function publishesName(): boolean {
  return ['darwin', 'win32'].includes(process.platform) || existsSync('/run/avahi-daemon/socket')
}
