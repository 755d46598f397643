/** Marks files that came over a network, so that the system asks before it runs one. @module */

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Browsers write the same for a download: 3 is the zone of the internet. */
const MARK = '[ZoneTransfer]\r\nZoneId=3\r\n'

/** The flags of a download, in the attribute that Gatekeeper reads. */
const QUARANTINE = 'com.apple.quarantine'
const DOWNLOADED = '0081'

/** Marks a file where the system has such a mark that can be written: on Windows and macOS. */
export async function markOrigin(
  path: string,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  // The mark is kept beside the bytes. Memory cards have no room for it, and a file there is as
  // useful without.
  if (platform === 'win32') {
    await writeFile(`${path}:Zone.Identifier`, MARK).catch(() => undefined)
  }
  if (platform === 'darwin') {
    const value = `${DOWNLOADED};${Math.floor(Date.now() / 1000).toString(16)};clipgate;`
    const args = ['-w', QUARANTINE, value, path]
    await promisify(execFile)('/usr/bin/xattr', args).catch(() => undefined)
  }
}
