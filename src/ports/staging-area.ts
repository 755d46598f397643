/**
 * Port: where uploaded bytes wait for the document that names them.
 *
 * `PUT /file/{dataName}` stages; the inbound pipeline takes when the document comes. A form may
 * name its bytes behind them: they are received first, and staged then, or handed to the pipeline.
 * Uploads are kept per device and name, so that one device never gets what another one sent. The
 * document may never come: implementations own expiry, the number of names per device, and the
 * quota. Uploads of a batch are kept by their numbers, wait for as long as something of their batch
 * is on its way, and are never given up for one of it that has another number. When there is no
 * more room, whoever has most gives an upload up, also a complete one.
 *
 * An upload may come in several requests: what has come is kept when one breaks off, and the next
 * one goes on from there. Staged uploads and such ones survive a restart. Any other upload that
 * fails leaves nothing behind. None touches an earlier one of its name before it is complete.
 * @module
 */

import type { Item } from '../core/item.ts'
import type { HashedBlob } from './blob.ts'
import type { Login } from './device-registry.ts'

/**
 * The place of an upload in a batch: one of several that become one item together. Its sender
 * chooses both, so that an upload that is sent again takes its own place.
 */
export interface BatchMember {
  /** 32 lower-case hex digits: names the batch among those of its device. */
  readonly batch: string
  /** From 1 on. */
  readonly number: number
}

/** The facts about an upload before its first byte. */
export interface UploadSource extends Login {
  /** Bytes of the whole, where the sender knows it. */
  readonly declaredSize: number | undefined
  /** A valid data name, where it comes before the bytes. */
  readonly dataName?: string
  /** As the sender declared it; what it is, is decided when bytes are there. */
  readonly contentType?: string | undefined
  /** SHA-256 that the whole is to have, in lower-case hex, where the sender says so. */
  readonly sha256?: string | undefined
  readonly member?: BatchMember | undefined
}

/** The name that an upload is filed under. */
export interface UploadName {
  /** A valid data name. */
  readonly dataName: string
  /** The media type of the bytes: the classified media type, or the declared one. */
  readonly mediaType: string
  /** Files it under its place in a batch, and not under its name. */
  readonly member?: BatchMember | undefined
  /**
   * Where this is there, a document with the hash of something else does not mean this upload. The
   * hash that its sender told, in lower-case hex, or empty.
   */
  readonly knownAs?: string | undefined
}

/** A complete upload that waits. */
export interface StagedUpload extends UploadName {
  readonly deviceId: string
  readonly blob: HashedBlob
  /**
   * SHA-256 of uploads that waited under its name before, in lower-case hex: a document with the
   * hash of one of them does not mean this one.
   */
  readonly replaced?: readonly string[] | undefined
}

/**
 * Bytes that have come and are not filed yet. Exactly one of its three endings must be called;
 * until then they count against the quota, and a crash leaves nothing of them. Until they are kept,
 * they may have to give way to another device, and are discarded then.
 */
export interface ReceivedUpload {
  readonly blob: HashedBlob
  /** The bytes give way to nobody from now on. @throws {DomainError} `NO_SPACE` when they have. */
  keep(): void
  /** The blob has a new owner: forgets the upload and leaves the blob alone. */
  release(): Promise<void>
  /** The bytes are not needed: forgets the upload and discards the blob. */
  discard(): Promise<void>
  /**
   * The third ending: keeps the bytes, and files them under the device that sent them and under a
   * name; the newest complete upload wins. When it fails they are discarded.
   *
   * @throws {DomainError} `NO_SPACE`; `CREDENTIAL_GONE` when the device was dropped meanwhile.
   */
  stage(name: UploadName): Promise<StagedUpload>
}

/** An upload that was taken. Exactly one of its three endings must be called. */
export interface TakenUpload extends StagedUpload, Pick<ReceivedUpload, 'release' | 'discard'> {
  /**
   * The third ending: the upload waits again, unless a newer one of its name has come meanwhile, or
   * the device was dropped.
   */
  giveBack(): void
}

/** An upload of which some bytes may be there. */
export interface PartialUpload {
  readonly source: UploadSource
  /** Names it: 32 hex digits that nobody can guess. */
  readonly token: string
  /** A valid data name. */
  readonly dataName: string
  /** The bytes that are kept. */
  readonly offset: number
  /** Bytes of the whole, where that is known. */
  readonly length: number | undefined
  /** Whether it was staged: no more bytes are taken. */
  readonly isComplete: boolean
  /** Milliseconds until it is given up, unless bytes come. */
  readonly remainingMs: number

  /**
   * Makes the caller the only one that works on it: the append of an earlier holder is broken off,
   * and keeps what it has. Exactly one hold is there at a time, and must be released.
   *
   * @throws {DomainError} `BLOB_GONE` when the upload was given up meanwhile.
   */
  seize(): Promise<PartialHold>
}

/** The right to work on a partial upload. */
export interface PartialHold {
  /**
   * Notes the length of the whole.
   *
   * @throws {DomainError} `NO_SPACE`.
   */
  setLength(length: number): Promise<void>

  /**
   * Appends bytes. What has come before a failure is kept, unless too much came or the upload had
   * to give way: then nothing is left of it.
   *
   * @param onProgress Called with the new offset whenever bytes were written.
   * @throws {DomainError} `UPLOAD_SEIZED` when somebody else has seized the upload; `NO_SPACE`;
   *   `LENGTH_EXCEEDED` past the length, `UPLOAD_TOO_LARGE` past the largest size;
   *   `CREDENTIAL_GONE`; what `bytes` throws.
   */
  append(bytes: AsyncIterable<Uint8Array>, onProgress: (offset: number) => void): Promise<void>

  /**
   * Takes back what was appended behind an offset. Where the disk fails, or after too many times,
   * nothing is left at all.
   *
   * @throws {DomainError} `NO_SPACE`; `BLOB_GONE`.
   */
  truncate(offset: number): Promise<void>

  /**
   * Ends the upload: what is there is all. Once it is staged, the upload is complete.
   *
   * @throws {DomainError} `NO_SPACE` when it had to give way.
   */
  finish(): Promise<ReceivedUpload>

  /** Gives the upload up. */
  discard(): Promise<void>

  release(): void
}

/** Uploads that wait for their document. */
export interface StagingArea {
  /**
   * Checks whether an upload of the declared size would find room, before its first byte is read.
   * Sets nothing aside: what is announced takes nothing from others.
   *
   * @throws {DomainError} `NO_SPACE`.
   */
  admit(source: UploadSource): Promise<void>

  /** Receives `bytes`. @throws As `BlobStore.receive`; {DomainError} `CREDENTIAL_GONE`. */
  receive(source: UploadSource, bytes: AsyncIterable<Uint8Array>): Promise<ReceivedUpload>

  /**
   * Begins an upload that may come in several requests. One too many of a device drops its oldest.
   *
   * @throws {DomainError} `NO_SPACE`; `CREDENTIAL_GONE`.
   */
  begin(source: UploadSource & { readonly dataName: string }): Promise<PartialUpload>

  /** The upload of a device that was begun; `undefined` when there is none. */
  find(deviceId: string, token: string): PartialUpload | undefined

  /** Returns what a device has staged under a name; `undefined` also while it is taken. */
  staged(deviceId: string, dataName: string): StagedUpload | undefined

  /**
   * Notes that a device may leave out an upload, since it was told that the bytes are here. Those
   * that wait meanwhile are older: they are `knownAs` from now on, also after a restart.
   *
   * @param dataName The name of the upload that it may leave out; any name without it.
   * @param current The current item: uploads that began while it was current already are left as
   *   they are. Those of before a restart began earlier.
   * @returns Settles when that is written, or could not be.
   */
  bind(
    deviceId: string,
    dataName?: string,
    current?: Pick<Item, 'activatedAt' | 'contentId'>,
  ): Promise<void>

  /**
   * Hands an upload over. Until it is ended it is neither expired nor given to anybody else, and a
   * crash leaves it staged.
   *
   * @returns `undefined` when this device has nothing staged under that name.
   */
  take(deviceId: string, dataName: string): TakenUpload | undefined

  /**
   * Hands uploads of a batch over, each as {@link take} does, in the order of `numbers`, and gives
   * up those that wait beside them.
   *
   * @returns `undefined` when one of them is not there; none is taken then.
   */
  takeBatch(
    deviceId: string,
    batch: string,
    numbers: readonly number[],
  ): readonly TakenUpload[] | undefined

  /**
   * Gives up all that a device has staged or begun, in this tick, and keeps what is under way from
   * being staged.
   *
   * @returns Settles when nothing of it is left; what is received or was taken has ended then.
   */
  drop(deviceId: string): Promise<void>
}
