/** Makes private folders, so that a power cut leaves them there. @module */

import { chmod, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from './atomic-file.ts'
import { codeOf } from './system-error.ts'

/** For the owner only: what we keep is private. */
export const PRIVATE_FOLDER_MODE = 0o700

/**
 * Makes sure of a folder, and of those above it, durably.
 *
 * @throws The error of a failing system call.
 */
export async function makePrivateFolders(path: string): Promise<void> {
  try {
    await makeDurableFolder(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error
    await makePrivateFolders(dirname(path))
    await makeDurableFolder(path)
  }
}

/** A power cut would take a new folder with all that was acknowledged in it. */
async function makeDurableFolder(path: string): Promise<void> {
  if (!(await makePrivateFolder(path))) return
  try {
    await syncFolder(dirname(path))
  } catch (error) {
    // A folder that may be written to and not read cannot be synced.
    if (codeOf(error) !== 'EACCES') throw error
  }
}

/**
 * Makes a folder in one that is there.
 *
 * @returns Whether it was not there.
 * @throws The error of a failing system call.
 */
export async function makePrivateFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, PRIVATE_FOLDER_MODE)
    // The umask may have taken even our own rights.
    await chmod(path, PRIVATE_FOLDER_MODE)
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    return false
  }
}
