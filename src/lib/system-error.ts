/** Reads the code of a failed system call, and asks the system for processes. @module */

import { constants } from 'node:os'

/** The codes that say that a descriptor, a thread, or the memory for a thread is not to be had. */
const SHORTAGES: readonly unknown[] = [
  'EMFILE',
  'ENFILE',
  'ERR_WORKER_INIT_FAILED',
  'ERR_WORKER_OUT_OF_MEMORY',
]

/** The disk is full, the quota is used up, or the file is larger than a limit allows. */
export const FULL_DISK_CODES: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG']

/** The code of a failed system call, or of a failure of Node. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  // The one code of a full disk that libuv has no name for: "Unknown system error -122".
  if ('errno' in error && error.errno === -constants.errno.EDQUOT) return 'EDQUOT'
  return typeof error.code === 'string' ? error.code : undefined
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file or folder'],
  ['ENOTDIR', 'part of its path is no folder'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'this user may not'],
  ['EPERM', 'this user may not'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'there is no space left'],
  ['EDQUOT', 'the quota of this user is used up'],
  ['EFBIG', 'it is larger than files may be there'],
  ['ENAMETOOLONG', 'its name is too long'],
  ['ELOOP', 'it is a link that leads nowhere'],
  ['EBUSY', 'another program uses it'],
  ['EIO', 'the disk fails'],
  ['EMFILE', 'too many files are open'],
])

/** Says why a system call failed, with the code for those who look for it. */
export function wordsOf(error: unknown): string {
  const code = codeOf(error) ?? 'unknown error'
  const words = WORDS.get(code)
  return words === undefined ? `the system says ${code}` : `${words} (${code})`
}

/** Whether descriptors, threads or memory were short: the same call may succeed later. */
export function isShortage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return SHORTAGES.includes(codeOf(error)) || isShortage(error.cause)
}

/** Whether a system call, or Node, failed with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  const code = codeOf(error)
  return code !== undefined && codes.includes(code)
}

/** Whether this machine has no such address, or none of its family, to listen on. */
export function isAddressMissing(error: unknown): boolean {
  return hasCode(error, 'EAFNOSUPPORT', 'EADDRNOTAVAIL')
}

/** Whether a process has this id; it may be another one by now than the one that was meant. */
export function isPidTaken(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it belongs to somebody else.
    return !hasCode(error, 'ESRCH')
  }
}
