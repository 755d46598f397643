/**
 * Recognises what we wrote when the system hands it back: clipboard managers take over whatever is
 * on the clipboard and offer it again, as it was or converted.
 * A copy counts as ours as long as it is what we wrote last. Once anything else was copied, a
 * person may copy the very same thing again.
 *
 * Text is the same whatever its line ends and trailing NULs: systems convert both. Files are the
 * same whatever the normal form of their names, and as the text that they are offered as beside
 * the list of files. An image is the same as the file that it was pasted as; the other rules for
 * images stand in `written-image.ts`.
 * @module
 */

import { describeFailure } from '../lib/describe-failure.ts'
import { withoutTrailing } from '../lib/without-trailing.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { CopiedContent, OfferedContent } from '../ports/system-clipboard.ts'
import { formatCopiedFiles, formatUriList } from './uri-list.ts'
import { WrittenImage } from './written-image.ts'

/** One write. */
export interface Written {
  readonly kind: OfferedContent['kind']
}

/** How a text or a list of files is recognised. */
interface WrittenWords extends Written {
  readonly kind: 'text' | 'files'
  readonly isSame: (copied: CopiedContent) => boolean
}

/** The writes that may come back, oldest first. */
export type Expected = readonly (WrittenWords | WrittenImage)[]

/** A few writes may wait for their confirmation. */
const MAX_WRITTEN = 4

/** Our last writes, which may come back. */
export class Echoes {
  readonly #clock: Clock
  readonly #logger: Logger
  /** The last write that succeeded and those after it, oldest first. */
  #written: Expected = []

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock
    this.#logger = logger
  }

  /** Remembers what is about to be written: the write before it may still come back. */
  add(content: OfferedContent): Written {
    const written = this.#remember(content)
    this.#written = [...this.#written, written].slice(-MAX_WRITTEN)
    return written
  }

  /** The write has succeeded: those before it do not come back any more. */
  confirm(written: Written): void {
    const found = this.#written.find((candidate) => candidate === written)
    if (found === undefined) return
    if (found.kind === 'image') found.confirm()
    this.#written = this.#written.slice(this.#written.indexOf(found))
  }

  /** From now on everything is a copy but what is being written. */
  forget(writing?: Written): void {
    this.#written = this.#written.filter((written) => written === writing)
  }

  /** The write has failed. */
  remove(failed: Written): void {
    this.#written = this.#written.filter((written) => written !== failed)
  }

  /** The writes that a reading may find which begins now, also when it ends after others. */
  get expected(): Expected {
    return this.#written
  }

  /**
   * The write that `copied` is an echo of. An image is not looked at any more when aborted.
   *
   * @param expected As `expected` was when the reading began.
   */
  async find(
    copied: CopiedContent,
    expected: Expected,
    signal: AbortSignal,
  ): Promise<Written | undefined> {
    for (const written of [...new Set([...expected, ...this.#written])].toReversed()) {
      if (written.kind !== 'image') {
        if (written.isSame(copied)) return written
      } else if (copied.kind === 'files') {
        if (written.isSavedAs(copied.paths)) return written
      } else if (copied.kind === 'image') {
        // Whatever goes wrong with the comparison, a copy must not be lost.
        const isSame = await written.isSameImage(copied, signal).catch((error: unknown) => {
          const failure = describeFailure(error)
          if (!signal.aborted) this.#logger.debug('Cannot compare images', { ...failure })
          return false
        })
        if (isSame || signal.aborted) return isSame ? written : undefined
      }
    }
    return undefined
  }

  /**
   * The last write, if it is an image of more than `maxBytes`: it cannot be read again, and an
   * image of that size that another program copied could not be shared either.
   */
  largeImage(maxBytes: number): Written | undefined {
    const last = this.#written.at(-1)
    return last?.kind === 'image' && last.size > maxBytes ? last : undefined
  }

  #remember(content: OfferedContent): WrittenWords | WrittenImage {
    switch (content.kind) {
      case 'text':
        return {
          kind: 'text',
          isSame: (copied) => copied.kind === 'text' && isSameText(copied.text, content.text),
        }
      case 'files':
        return { kind: 'files', isSame: (copied) => isSameFiles(copied, content.paths) }
      case 'image':
        return new WrittenImage(content, this.#clock)
    }
  }
}

function isSameText(a: string, b: string): boolean {
  // Encoding the text has replaced lone surrogates.
  const normalise = (text: string) =>
    withoutTrailing(text.toWellFormed(), '\0').replace(/\r\n?/g, '\n')
  return a === b || normalise(a) === normalise(b)
}

function isSameFiles(copied: CopiedContent, paths: readonly string[]): boolean {
  if (copied.kind === 'files') {
    return copied.paths.join('\0').normalize() === paths.join('\0').normalize()
  }
  if (copied.kind !== 'text') return false
  const texts = [paths.join('\n'), formatUriList(paths), formatCopiedFiles(paths)]
  return texts.some((text) => isSameText(text.trimEnd(), copied.text.trimEnd()))
}
