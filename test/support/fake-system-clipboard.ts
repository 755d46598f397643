/**
 * A clipboard in memory, with the other programs of a desktop played by the test.
 *
 * @module
 */

import { withoutTrailingNuls } from '../../src/desktop/trailing-nuls.ts'
import type {
  ClipboardEvents,
  CopiedContent,
  OfferedContent,
  SystemClipboard,
} from '../../src/ports/system-clipboard.ts'

export class FakeSystemClipboard implements SystemClipboard {
  readonly kind = 'x11'
  readonly #events: ClipboardEvents
  #isClosed = false
  #trouble: string | undefined
  #offered: OfferedContent | undefined
  #copied: CopiedContent | undefined

  constructor(events: ClipboardEvents) {
    this.#events = events
  }

  /** What is offered now; `undefined` once another program copied, and while there is trouble. */
  get offered(): OfferedContent | undefined {
    return this.#trouble === undefined ? this.#offered : undefined
  }

  async offer(content: OfferedContent): Promise<void> {
    if (this.#isClosed) throw new Error('The clipboard is closed')
    this.#offered = content
    this.#copied = undefined
    if (this.#trouble !== undefined) throw new Error(this.#trouble)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#offered = undefined
  }

  /** A person copies in another program. */
  copy(content: CopiedContent): void {
    this.#offered = undefined
    this.#copied = content
    if (this.#isClosed || !this.#events.isWanted()) return
    if (content.kind !== 'text') return this.#events.onCopy(content)
    const text = withoutTrailingNuls(content.text)
    if (text !== '') this.#events.onCopy({ kind: 'text', text })
  }

  /** A person pastes in another program. */
  async paste(): Promise<CopiedContent | undefined> {
    const content = this.offered
    if (content === undefined) return this.#copied
    if (content.kind !== 'image') return content
    const bytes = new Uint8Array(content.blob.size)
    const opened = await content.blob.open()
    try {
      await opened.read(bytes, 0)
    } finally {
      await opened.close()
    }
    return { kind: 'image', mediaType: content.mediaType, bytes }
  }

  /** The clipboard goes away; `undefined`: it is back. */
  setTrouble(message: string | undefined): void {
    this.#trouble = message
    if (!this.#isClosed) this.#events.onTrouble(message)
  }
}
