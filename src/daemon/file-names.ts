/**
 * How files of others are named here; the commands save files by the same rules as the daemon.
 *
 * @module
 */

export { hasCode, moveToFreeName } from '../desktop/move-to-free-name.ts'
export { numberedName, safeFileName } from '../desktop/safe-file-name.ts'
