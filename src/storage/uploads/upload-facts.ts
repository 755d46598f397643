/** The facts about an upload. @module */

import type { BatchMember, StagedUpload, UploadSource } from '../../ports/staging-area.ts'
import { newBlobName } from '../blobs/growing-blob.ts'

/** More than a device has under way of one name; keeps what is known of them from growing. */
const MAX_REPLACED = 16

export type UploadState =
  | 'coming' // Its file is made or written.
  | 'resting' // More is to come, and nobody writes.
  | 'whole' // All bytes are there; whoever received them decides what becomes of them.
  | 'kept' // The same, and it gives way to nobody any more.
  | 'waiting' // For its document.
  | 'taken' // By a document, which decides what becomes of it.
  | 'ending' // Its files are being removed.
  | 'gone' // Nothing is left but the answer to whoever asks for a complete one.

/** The kind of an upload, and its name where it has one. */
export interface UploadKind {
  /** Whether what has come is kept when the bytes break off. */
  readonly isResumable?: boolean | undefined
  /** The name of its records and its blob; a new one unless given. */
  readonly token?: string
  readonly sequence?: number
  /** The activation that was current when it began; not known of one from before a restart. */
  readonly begunIn?: string
}

/** The facts about an upload, which change while it lives. */
export abstract class UploadFacts {
  readonly source: UploadSource
  readonly isResumable: boolean
  readonly token: string
  readonly begunIn: string | undefined
  state: UploadState = 'coming'
  /** Why it ends, as soon as it has to. */
  reason: Error | undefined
  /** Bytes of the quota that it has. */
  held = 0
  /** When it is given up unless more comes, on the monotonic clock: nobody can set that. */
  expiresAt: number
  /** Bytes of the whole, where that is known. */
  length: number | undefined
  /** Later uploads have greater numbers, whatever the clock did. */
  sequence: number
  /** The upload as a document finds it, once it has a name. */
  staged: StagedUpload | undefined
  /** Whether one that is resumable was staged: no more bytes are taken. */
  isComplete = false
  /** Whether it answers to its token no more. */
  isForgotten = false
  /** Whether nobody may go on with it, although what has come stays. */
  isClosed = false

  constructor(source: UploadSource, kind: UploadKind, expiresAt: number) {
    const { isResumable = false, token = newBlobName(), sequence = 0, begunIn } = kind
    this.source = source
    this.isResumable = isResumable
    this.token = token
    this.begunIn = begunIn
    this.sequence = sequence
    this.length = source.declaredSize
    this.expiresAt = expiresAt
  }

  get dataName(): string {
    return (this.staged ?? this.source).dataName ?? ''
  }

  get member(): BatchMember | undefined {
    return (this.staged ?? this.source).member
  }

  /** Whether it answers to its token: to go on with it, or that it is complete. */
  get isRemembered(): boolean {
    if (!this.isResumable || this.isForgotten || this.isClosed) return false
    return this.isComplete || this.reason === undefined
  }

  /** Whether it comes in one piece, and nothing of it is kept yet. */
  get isPassing(): boolean {
    return !this.isResumable && ['coming', 'whole', 'kept'].includes(this.state)
  }

  /** Keeps it from documents with the hash of something else, once it waits. */
  abstract bind(): Promise<void>

  /** Notes another upload, whose place it has and whose document may be on its way. */
  replace({ staged: other }: UploadFacts): void {
    if (this.staged === undefined || other === undefined) return
    const replaced = [other.blob.digests.sha256, ...(other.replaced ?? [])]
    this.staged = { ...this.staged, replaced: replaced.slice(0, MAX_REPLACED) }
    // Nothing else tells it from those that are forgotten.
    if (replaced.length > MAX_REPLACED) void this.bind()
  }

  /** @throws The reason for which it has to end. */
  check(): void {
    if (this.reason !== undefined) throw this.reason
  }
}
