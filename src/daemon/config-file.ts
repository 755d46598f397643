/**
 * Reads the config file: one JSON object of settings.
 *
 * Does not look at the settings themselves; `settings.ts` judges those of all sources alike.
 *
 * @module
 */

import { readFileSync } from 'node:fs'

/** Members of the object, not yet judged. */
export type ConfigEntries = readonly (readonly [name: string, value: unknown])[]

/**
 * @param mayBeMissing Whether nobody asked for this very file.
 * @throws {TypeError} with a message that completes "Cannot use config file …: it …".
 */
export function readConfigFile(
  path: string,
  { mayBeMissing }: { mayBeMissing: boolean },
): ConfigEntries {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error'
    if (code === 'ENOENT' && mayBeMissing) return []
    throw new TypeError(code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`, {
      cause,
    })
  }
  let value: unknown
  try {
    // Editors of some platforms open a file with a byte order mark.
    value = text.trim() === '' ? {} : JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (cause) {
    throw new TypeError('is not valid JSON', { cause })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError('must hold one JSON object')
  }
  return Object.entries(value)
}
