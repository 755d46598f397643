/**
 * The version of this program.
 *
 * @module
 */

import { readFileSync } from 'node:fs'

/** The one in `package.json`, which stands two folders above sources, modules and bundle alike. */
export function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const manifest: unknown = JSON.parse(text)
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest
  return isManifest ? String(manifest.version) : '0.0.0'
}
