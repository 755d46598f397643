/**
 * Decides which of the two spellings of the protocol a request speaks.
 *
 * The document path decides, and the device remembers it. Everything asks here.
 *
 * @module
 */

import type { Dialect } from '../ports/device-registry.ts'

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
