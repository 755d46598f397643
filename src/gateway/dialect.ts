/**
 * Decides which of the two spellings of the protocol a request speaks.
 *
 * The document path decides, and the device remembers it. Everything asks here.
 * @module
 */

import type { Call } from '../http/call.ts'
import type { Device, DeviceRegistry, Dialect } from '../ports/device-registry.ts'

/** Where each dialect has its document. */
export const DOCUMENT_PATHS: Readonly<Record<Dialect, `/${string}`>> = {
  sync: '/Sync.json',
  syncclipboard: '/SyncClipboard.json',
}

/** How the clients of the reference project introduce themselves. */
const REFERENCE_CLIENT = 'SyncClipboard'

/** The dialect that a normalised path tells; `undefined` for anything but a document path. */
export function dialectOfPath(path: string): Dialect | undefined {
  if (path === DOCUMENT_PATHS.sync) return 'sync'
  return path === DOCUMENT_PATHS.syncclipboard ? 'syncclipboard' : undefined
}

/** The desktop program of version 2; that of version 3 has a 3 there. */
const OLD_DESKTOP = /^SyncClipboard\.[A-Za-z]+2\./

/**
 * Whether the client of a request reads the keys of versions 1 and 2 only, in which a present
 * document looks empty. It is known by its name, or by what its device has pushed.
 */
export function readsOldKeys(
  { request, principal }: Pick<Call<Device>, 'request' | 'principal'>,
  devices: Pick<DeviceRegistry, 'find'>,
): boolean {
  if (OLD_DESKTOP.test(request.headers['user-agent'] ?? '')) return true
  return devices.find(principal.id)?.usesOldKeys === true
}

/** The dialect of a request to anything but a document path. */
export function dialectOf(
  { request, principal }: Pick<Call<Device>, 'request' | 'principal'>,
  devices: Pick<DeviceRegistry, 'find'>,
): Dialect {
  if (request.headers['user-agent']?.startsWith(REFERENCE_CLIENT) === true) return 'syncclipboard'
  // The principal may be as old as its connection, and the device have changed its ways since.
  return devices.find(principal.id)?.dialect ?? 'sync'
}
