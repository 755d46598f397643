/**
 * Decides which of the two spellings of the protocol a request speaks.
 *
 * The document path decides for the document. Elsewhere the reference clients name themselves;
 * everybody else speaks what the device used last. Everything asks here.
 *
 * @module
 */

import type { IncomingMessage } from 'node:http'
import type { Device, Dialect } from '../ports/device-registry.ts'

/** Where each dialect has its document. */
export const DOCUMENT_PATHS: Readonly<Record<Dialect, `/${string}`>> = {
  sync: '/Sync.json',
  syncclipboard: '/SyncClipboard.json',
}

/** The dialect that a normalised path tells; `undefined` for anything but a document path. */
export function dialectOfPath(path: string): Dialect | undefined {
  if (path === DOCUMENT_PATHS.sync) return 'sync'
  return path === DOCUMENT_PATHS.syncclipboard ? 'syncclipboard' : undefined
}

/** The dialect of a request to anything but a document path. */
export function dialectOf(request: IncomingMessage, device: Device | undefined): Dialect {
  if (request.headers['user-agent']?.startsWith('SyncClipboard') === true) return 'syncclipboard'
  return device?.dialect ?? 'sync'
}
