/** Port: room on a disk for a file that is about to be written. @module */

/** Belongs to one file until it is written, or has failed. */
export interface DiskRoom {
  /** Tells how much of it has been written. */
  wrote(bytes: number): void
  /** Ends it. Calling it twice is fine. */
  release(): void
}

/**
 * Sets bytes aside on the disk that `folder` is on.
 *
 * @param folder Exists.
 * @throws {DomainError} `NO_SPACE` when less would stay free than has to.
 */
export type ReserveRoom = (bytes: number, folder: string) => Promise<DiskRoom>
