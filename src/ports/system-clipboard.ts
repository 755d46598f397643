/**
 * Port: the clipboard of the desktop, as one system has it.
 *
 * An adapter watches, reads and writes, and remembers no content. Opening one begins to watch.
 * What should be on the clipboard, whether it may be written now, and what counts as a copy is
 * decided in one place for all of them: `src/desktop/clipboard-reconciler.ts`.
 *
 * Implementations react to events and do not poll. They survive the loss of the display server,
 * and come back by themselves.
 * @module
 */

import type { Blob, HashedBlob } from './blob.ts'

/** The content that a person copied. */
export type CopiedContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly mediaType: string; readonly bytes: Uint8Array }
  /** Absolute paths, at least one. */
  | { readonly kind: 'files'; readonly paths: readonly string[] }

/** An image as a file, which is written when a program asks for it. */
export interface ImageFile {
  /** `undefined` as long as it was not saved. */
  readonly path: string | undefined
  /** Returns its absolute path. @throws What saving it throws. */
  save(): Promise<string>
}

/** The content that other programs can paste. */
export type OfferedContent =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'image'
      readonly mediaType: string
      readonly blob: Blob & Partial<Pick<HashedBlob, 'digests'>>
      readonly file?: ImageFile
    }
  /** Absolute paths, at least one. */
  | { readonly kind: 'files'; readonly paths: readonly string[] }

/** The systems whose clipboard can be shared. */
export type ClipboardKind = 'x11' | 'wayland' | 'macos' | 'windows'

/**
 * Who changed the clipboard; `nobody` when it was emptied, or was empty when it was read at start.
 * `found`: another one had changed it when the watching began, for the first time or again, and
 * nobody knows when.
 */
export type ClipboardOwner = 'us' | 'another' | 'found' | 'nobody'

/** The reports of an adapter, from its opening until it is closed. No listener throws. */
export interface ClipboardEvents {
  /**
   * The clipboard changed. `another` and `found` may be ourselves where the system does not tell; a
   * reading that began before the change is of no use any more.
   */
  onChange(owner: ClipboardOwner): void
  /** The clipboard is out of reach; `reason` is for people. */
  onLost(reason: string): void
  /**
   * The clipboard can be written again, and no other program has copied meanwhile.
   *
   * @param isOursLost Whether what was written last cannot be pasted any more.
   */
  onBack(isOursLost: boolean): void
  /** The adapter has a problem, for people; `undefined` when it is over. */
  onTrouble(message: string | undefined): void
}

/** The clipboard of one system. */
export interface SystemClipboard {
  readonly kind: ClipboardKind

  /**
   * Reads what is on the clipboard.
   *
   * @returns `undefined` when nothing of it can be shared: it is empty, secret, or in no format
   *   that is known here; `overtaken` when another change is announced, or the clipboard is empty.
   * @throws {CopyTooLarge} When it is larger than what is shared.
   * @throws {OutOfReach} When the clipboard is out of reach: the change is announced again.
   * @throws {Error} With a message for people; `signal.reason` when aborted.
   */
  read(signal: AbortSignal): Promise<CopiedContent | 'overtaken' | undefined>

  /**
   * Offers `content` until somebody copies something else, replacing what was offered before.
   * Resolves when other programs can paste it. The bytes of an image may be read until then and
   * as long as it is offered.
   *
   * @throws {OutOfReach} When the clipboard is out of reach; `onBack` follows.
   * @throws {Error} When somebody copied at the same moment.
   */
  write(content: OfferedContent): Promise<void>

  /**
   * Makes, of what was written, what more programs can paste, where a system offers one format:
   * it is to be written in place of that. Takes seconds; `undefined` when there is nothing better.
   *
   * @throws {Error} When it cannot be made; `signal.reason` when aborted.
   */
  convert?(content: OfferedContent, signal: AbortSignal): Promise<OfferedContent | undefined>

  /** Says whose content was read during `write`, where the system does not tell who can paste. */
  confirm?(seen: 'ours' | 'foreign'): void

  /** Lets go of the clipboard. Nothing is called back afterwards. */
  close(): Promise<void>
}
