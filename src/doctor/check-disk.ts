/**
 * Whether uploads find room.
 *
 * @module
 */

import { formatBytes } from '../lib/format-bytes.ts'
import { findPlace } from './check-data-directory.ts'
import { fine, hint, problem, type Finding } from './finding.ts'
import type { Situation } from './situation.ts'

const CHECK = 'disk'

/** An upload takes two files, and so do other programs all the time. */
const FEW_FILES = 1000

/** Of what may wait: one more upload may not fit. */
const FULL_SHARE = 0.9

export async function checkDisk({ settings, machine, daemon }: Situation): Promise<Finding> {
  const { dataDir, minFreeBytes, maxFileBytes, stagingQuotaBytes } = settings
  const { path } = await findPlace(dataDir)
  const { bavail, bsize, files, ffree } = await machine.statfs(path)
  const free = bavail * bsize
  const detail = `${formatBytes(free)} free for ${dataDir}`
  if (free <= minFreeBytes || free === 0) {
    const limit =
      minFreeBytes === 0 ? '' : `; uploads are refused below ${formatBytes(minFreeBytes)}`
    const fix = 'make room, or move it: --data-dir; the limit is --min-free-bytes'
    return problem(CHECK, detail + limit, fix)
  }
  // Some file systems make them as they are needed, and count none.
  if (files > 0 && ffree < FEW_FILES) {
    const fix = 'delete many small files on that file system, or move the data: --data-dir'
    return problem(CHECK, `${detail}, but room for only ${ffree} more files (inodes)`, fix)
  }
  const staged = daemon?.status.storage.stagedBytes ?? 0
  if (staged > stagingQuotaBytes * FULL_SHARE) {
    const fix = 'wait until they expire (--staging-ttl), or raise --staging-quota-bytes'
    const share = `${formatBytes(staged)} of ${formatBytes(stagingQuotaBytes)}`
    return problem(CHECK, `${detail}; uploads that wait for their document take ${share}`, fix)
  }
  if (free - minFreeBytes < maxFileBytes) {
    const fix = 'nothing, unless somebody pushes files of that size: then make room'
    return hint(
      CHECK,
      `${detail}; a file of ${formatBytes(maxFileBytes)}, the largest allowed, would not fit`,
      fix,
    )
  }
  return fine(CHECK, detail)
}
