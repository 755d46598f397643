/** The version of this program. @module */

import { readFileSync } from 'node:fs'

/** `build/build.js` puts the version here; the sources, run as they are, do not have it. */
declare const CLIPGATE_VERSION: string | undefined

/** Reads the version in `package.json`. */
export function readVersion(): string {
  if (typeof CLIPGATE_VERSION === 'string') return CLIPGATE_VERSION
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const manifest: unknown = JSON.parse(text)
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest
  return isManifest ? String(manifest.version) : '0.0.0'
}
