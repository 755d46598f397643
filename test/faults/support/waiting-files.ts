/**
 * The files in which uploads wait.
 * @module
 */

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { DaemonProcess } from '../../support/daemon-process.ts'
import type { Phone } from '../../support/phone.ts'

/** Names of the files in which uploads wait. */
export async function waitingFiles({ folder }: DaemonProcess): Promise<readonly string[]> {
  const folders = ['blobs', 'staging'].map((name) => join(folder, 'data', name))
  return (await Promise.all(folders.map((path) => readdir(path)))).flat().sort()
}

/** Looks again and again, at the pace of the daemon. */
export async function until(phone: Phone, fits: () => Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < 5000; looks++) {
    if (await fits()) return
    await phone.fetch('/healthz')
  }
  assert.fail('it never came to that')
}
