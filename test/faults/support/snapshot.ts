/** What lies in a folder, so that a test can see whether anything has become of it. @module */

import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../support/hashes.ts'

/** Paths in a folder, with all that can be seen of each. */
export type Snapshot = Readonly<Record<string, string>>

/** Looks at a folder and everything below it; links are not followed. */
export function takeSnapshot(folder: string, isWanted = (_path: string) => true): Snapshot {
  const paths = readdirSync(folder, { recursive: true }).map(String).filter(isWanted).sort()
  return Object.fromEntries(paths.map((path) => [path, describe(join(folder, path))]))
}

function describe(path: string): string {
  const stats = lstatSync(path)
  const mode = (stats.mode & 0o7777).toString(8)
  if (stats.isSymbolicLink()) return `link to ${readlinkSync(path)}`
  if (!stats.isFile()) return `folder ${mode}`
  const digest = sha256(readFileSync(path))
  return `file ${mode} of ${stats.nlink} names: ${digest}`
}

const OWN_FILES =
  /^(?:(?:devices|sightings|item|staging\/[0-9a-f]{32})\.json(?:\.[0-9a-f]{12}\.tmp)?|lock|sharing|control\.token|computer\.id|tls-authority\.pem|blobs|staging|blobs\/[0-9a-f]{32})$/

/** Whether a path in a data directory is one that a daemon makes. */
export function isOwnPath(path: string): boolean {
  return OWN_FILES.test(path)
}
