/**
 * Port: where uploaded bytes wait for the document that names them.
 *
 * `PUT /file/{dataName}` stages; the inbound pipeline takes when the document comes. Uploads are
 * kept per device and name, so that one device never gets what another one sent. The document may
 * never come: implementations own expiry, the number of names per device, and the quota.
 *
 * Staged uploads survive a restart. A failed upload leaves nothing behind and does not touch an
 * earlier one of its name.
 *
 * @module
 */

import type { HashedBlob } from './blob.ts'

/** What is known about an upload before its bytes have arrived. */
export interface UploadHeader {
  readonly deviceId: string
  /** A valid data name. */
  readonly dataName: string
  /** What the bytes are: the classified media type, or the declared one. */
  readonly mediaType: string
  /** As declared by the sender. */
  readonly declaredSize: number | undefined
}

/** A complete upload that waits. */
export interface StagedUpload {
  readonly deviceId: string
  readonly dataName: string
  readonly mediaType: string
  readonly blob: HashedBlob
}

/** An upload that was taken. Exactly one of its three endings must be called. */
export interface TakenUpload extends StagedUpload {
  /** The blob has a new owner: forgets the upload and leaves the blob alone. */
  release(): Promise<void>
  /** The bytes are not needed any more: forgets the upload and discards the blob. */
  discard(): Promise<void>
  /** Nothing came of it: waits again, unless a newer upload of its name has come meanwhile. */
  giveBack(): void
}

export interface StagingArea {
  /**
   * Checks whether an upload of the declared size would find room, before its first byte is read.
   * Writes and removes nothing.
   *
   * @throws {DomainError} `UPLOAD_TOO_LARGE` past the size cap; `NO_SPACE`.
   */
  admit(header: Pick<UploadHeader, 'deviceId' | 'declaredSize'>): Promise<void>

  /**
   * Receives `bytes` and files them under the device and name of `header`; the newest complete
   * upload wins.
   *
   * @throws As `BlobStore.receive`.
   */
  stage(header: UploadHeader, bytes: AsyncIterable<Uint8Array>): Promise<StagedUpload>

  /**
   * Hands an upload over. Until it is ended it is neither expired nor given to anybody else, and a
   * crash leaves it staged.
   *
   * @returns `undefined` when this device has nothing staged under that name.
   */
  take(deviceId: string, dataName: string): TakenUpload | undefined
}
