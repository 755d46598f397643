/** A clipboard in memory, with the other programs of a desktop played by the test. @module */

import { OutOfReach } from '../../src/desktop/clipboard-errors.ts'
import { withoutTrailing } from '../../src/lib/without-trailing.ts'
import type {
  ClipboardEvents,
  CopiedContent,
  OfferedContent,
  SystemClipboard,
} from '../../src/ports/system-clipboard.ts'
import { Mailbox } from './mailbox.ts'

export class FakeSystemClipboard implements SystemClipboard {
  readonly kind = 'x11'
  /** Everything that was written, in order. */
  readonly writes = new Mailbox<OfferedContent>()
  /** Makes what is written in place of the first form; `undefined` where there is one form only. */
  convert: SystemClipboard['convert'] & {}
  readonly #events: ClipboardEvents
  #isClosed = false
  #trouble: string | undefined
  #offered: OfferedContent | undefined
  #copied: CopiedContent | undefined

  constructor(events: ClipboardEvents) {
    this.#events = events
    this.convert = async () => undefined
  }

  /** What is offered now; `undefined` once another program copied, and while there is trouble. */
  get offered(): OfferedContent | undefined {
    return this.#trouble === undefined ? this.#offered : undefined
  }

  async read(): Promise<CopiedContent | undefined> {
    const copied = this.#copied
    if (copied?.kind !== 'text') return copied
    const text = withoutTrailing(copied.text, '\0')
    return text === '' ? undefined : { kind: 'text', text }
  }

  async write(content: OfferedContent): Promise<void> {
    if (this.#isClosed) throw new Error('The clipboard is closed')
    if (this.#trouble !== undefined) throw new OutOfReach(this.#trouble)
    this.writes.put(content)
    this.#offered = content
    this.#copied = undefined
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#offered = undefined
  }

  /** A person copies in another program; `found`: has copied, before anybody watched. */
  copy(content: CopiedContent, owner: 'another' | 'found' = 'another'): void {
    this.#offered = undefined
    this.#copied = content
    this.#events.onChange(owner)
  }

  /** A person, or a program, empties it. */
  clear(): void {
    this.#offered = undefined
    this.#copied = undefined
    this.#events.onChange('nobody')
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
    this.#events.onTrouble(message)
    if (message === undefined) this.#events.onBack(false)
  }
}
