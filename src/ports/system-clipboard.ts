/**
 * Port: the clipboard of the desktop.
 *
 * Implementations react to events and do not poll; survive the loss of the display server and come
 * back by themselves; and never report as a copy what they wrote, as long as it is theirs. What
 * other programs take over and hand back they do report: `src/desktop/echo-guard.ts` knows it.
 *
 * @module
 */

import type { Blob } from './blob.ts'

/** The content that a person copied. */
export type CopiedContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly mediaType: string; readonly bytes: Uint8Array }
  /** Absolute paths, at least one. */
  | { readonly kind: 'files'; readonly paths: readonly string[] }

/** The content that other programs can paste. */
export type OfferedContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly mediaType: string; readonly blob: Blob }
  /** Absolute paths, at least one. */
  | { readonly kind: 'files'; readonly paths: readonly string[] }

export type ClipboardKind = 'x11' | 'wayland' | 'macos' | 'windows'

/** Told, and asked, about the outside by a clipboard. None of them throws. */
export interface ClipboardEvents {
  /**
   * Somebody copied; called once for each copy, before anything of it is read. When it returns
   * `false`, nothing of it is read or reported, also not later.
   */
  isWanted(): boolean
  onCopy(content: CopiedContent): void
  /** The clipboard could not be reached or read; `undefined` when it works. */
  onTrouble(message: string | undefined): void
}

/** The clipboard of a desktop. */
export interface SystemClipboard {
  readonly kind: ClipboardKind

  /**
   * Offers `content` until somebody copies something else, replacing what was offered before.
   * Resolves when other programs can paste it. The bytes of an image may be read until then and
   * as long as it is offered.
   *
   * @throws {Error} When somebody copied at the same moment; or while the clipboard is out of
   *   reach: then `content` is offered once that is over, unless somebody copied meanwhile.
   */
  offer(content: OfferedContent): Promise<void>

  /** Lets go of the clipboard. Nothing is called back afterwards. */
  close(): Promise<void>
}
