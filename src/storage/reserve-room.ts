/**
 * Room for files outside of the data directory, by the same rule as for uploads.
 *
 * @module
 */

import { stat } from 'node:fs/promises'
import type { ReserveRoom } from '../ports/disk-room.ts'
import type { DiskSpace } from './disk-space.ts'

/**
 * @param folder Where `space` is: what goes to the same file system counts together.
 * @param openSpace For another file system.
 */
export function createReserveRoom(
  folder: string,
  space: DiskSpace,
  openSpace: (folder: string) => DiskSpace,
): ReserveRoom {
  const others = new Map<number, DiskSpace>()
  return async (bytes, target) => {
    const [own, wanted] = await Promise.all([stat(folder), stat(target)])
    if (wanted.dev === own.dev) return space.allow(bytes)
    const other = others.get(wanted.dev) ?? openSpace(target)
    others.set(wanted.dev, other)
    return other.allow(bytes)
  }
}
