/**
 * What is in a data directory and should not be.
 * @module
 */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const OWN_FILES = [
  'blobs',
  'control.token',
  'devices.json',
  'item.json',
  'sightings.json',
  'staging',
]

/**
 * Unfinished files, bytes that nothing refers to, and references to bytes that are not there.
 *
 * @param isRunning Whether a daemon holds the directory.
 */
export async function findDebris(
  dataDir: string,
  { isRunning }: { readonly isRunning: boolean },
): Promise<readonly string[]> {
  const expected = isRunning ? [...OWN_FILES, 'lock'] : OWN_FILES
  const strange = (await readdir(dataDir)).filter((name) => !expected.includes(name))
  const staging = await readdir(join(dataDir, 'staging'))
  const records = staging.filter((name) => /^[0-9a-f]{32}\.json$/.test(name))
  const item = await readItem(join(dataDir, 'item.json'))
  const referred = new Set(records.map((name) => name.slice(0, -'.json'.length)))
  if (item !== undefined) referred.add(item)
  const blobs = new Set(await readdir(join(dataDir, 'blobs')))
  return [
    ...strange,
    ...staging.filter((name) => !records.includes(name)).map((name) => `staging/${name}`),
    ...[...blobs].filter((name) => !referred.has(name)).map((name) => `blobs/${name}`),
    ...[...referred].filter((name) => !blobs.has(name)).map((name) => `blobs/${name} is missing`),
  ]
}

/** The blob that the item refers to. */
async function readItem(path: string): Promise<string | undefined> {
  const { binary } = JSON.parse(await readFile(path, 'utf8'))
  return binary?.blob?.name
}
