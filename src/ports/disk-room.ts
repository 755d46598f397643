/** Port: room on a disk for a file that is about to be written. @module */

/** Belongs to one file until it is written, or has failed. */
export interface DiskRoom {
  /** Tells how much of it has been written. */
  wrote(bytes: number): void
  /** Ends it. Calling it twice is fine. */
  release(): void
}

/** Something that is kept for as long as nothing that comes needs its room. */
export interface Expendable {
  /** The bytes that giving up all of it brings, about. */
  readonly bytes: number
  /** Gives up a part of it. @returns Whether there was one. */
  giveUp(): Promise<boolean>
}

/** Sets bytes aside on the disk of `folder`. @throws {DomainError} `NO_SPACE`. */
export type ReserveRoom = (bytes: number, folder: string) => Promise<DiskRoom>
