/** Another X program, whose every step is the test's: what xclip cannot or will not do. @module */

import { setImmediate } from 'node:timers/promises'
import { systemClock } from '../../../../src/lib/clock.ts'
import {
  PROPERTY_CHANGE,
  type SelectionEvent,
  type SelectionRequest,
  XConnection,
} from '../../../../src/desktop/x11/x-connection.ts'
import { Mailbox } from '../../../support/mailbox.ts'

/** A slow machine is no failure here. */
const PATIENCE_MS = 60_000

type Formats = Readonly<Record<string, string | Uint8Array>>

type EventOf<Kind> = Extract<SelectionEvent, { kind: Kind }>

export class XClient {
  readonly connection: XConnection
  readonly window: number
  readonly clipboard: number
  readonly #mailboxes = new Map<string, Mailbox<SelectionEvent>>()
  #formats: Formats | undefined

  /** @param t Ends it. */
  static async open(t: { after(run: () => unknown): void }, display: string): Promise<XClient> {
    const connection = await XConnection.open({
      display,
      clock: systemClock,
      timeoutMs: PATIENCE_MS,
      onError: () => undefined,
    })
    t.after(() => connection.close())
    const client = new XClient(connection)
    // The answer to the last request tells that the earlier ones were served.
    await client.connection.clipboardOwner()
    return client
  }

  private constructor(connection: XConnection) {
    this.connection = connection
    this.clipboard = connection.atom('CLIPBOARD')
    this.window = connection.window
    connection.watchClipboard()
    connection.onEvent((event) => this.#mailboxOf(event.kind).put(event))
  }

  atom(name: string): Promise<number> {
    return this.connection.internAtom(name)
  }

  /** The next event of a kind; earlier ones wait. */
  async next<Kind extends SelectionEvent['kind']>(kind: Kind): Promise<EventOf<Kind>> {
    const event = await this.#mailboxOf(kind).next()
    // Mailboxes hold events of one kind.
    return event as EventOf<Kind>
  }

  /** The next program that takes the clipboard: of one that has ended the server may tell late. */
  async nextOwner(): Promise<EventOf<'ownerChanged'>> {
    let change = await this.next('ownerChanged')
    while (change.owner === 0) change = await this.next('ownerChanged')
    return change
  }

  /** How many events of a kind nobody has looked at. */
  waiting(kind: SelectionEvent['kind']): number {
    return this.#mailboxOf(kind).size
  }

  /** Resolves when all that the server has told anybody so far was heard in this program. */
  async settle(): Promise<void> {
    await this.connection.clipboardOwner()
    // What the server wrote before this answer is read in the same turn of the event loop.
    await setImmediate()
  }

  /** Takes the clipboard, now, and tells when that was. */
  async own(): Promise<EventOf<'ownerChanged'>> {
    this.connection.setSelectionOwner(this.window, this.clipboard, 0)
    let change = await this.nextOwner()
    while (change.owner !== this.window) change = await this.nextOwner()
    return change
  }

  /** The next request, which must be for `target`. */
  async nextRequest(target: string): Promise<SelectionRequest> {
    const request = await this.next('requested')
    const wanted = await this.atom(target)
    if (request.target !== wanted) throw new Error(`Asked for something else than ${target}`)
    return request
  }

  /** Answers a request with bytes, or with a list of atoms. */
  async answer(
    request: SelectionRequest,
    type: string,
    data: string | Uint8Array | readonly string[],
  ): Promise<void> {
    const { requestor: window, property } = request
    const atom = await this.atom(type)
    const value = Array.isArray(data)
      ? await Promise.all(data.map((name: string) => this.atom(name)))
      : Buffer.from(data as string)
    await this.connection.changeProperty({ window, property, type: atom, data: value })
    await this.connection.sendSelectionNotify(request)
  }

  refuse(request: SelectionRequest): Promise<void> {
    return this.connection.sendSelectionNotify({ ...request, property: 0 })
  }

  /** Copies something in several formats, and lets others paste it until the test ends. */
  async copy(formats: Formats): Promise<void> {
    const isServing = this.#formats !== undefined
    this.#formats = formats
    await this.own()
    // Ends with an error when the connection is closed, which is how every test ends.
    if (!isServing) this.#serve().catch(() => undefined)
  }

  /** Copies something in one format; resolves when another program has read it. */
  async copyUntilRead(target: string, data: string | Uint8Array): Promise<void> {
    await this.own()
    await this.answer(await this.nextRequest('TARGETS'), 'ATOM', [target])
    const request = await this.nextRequest(target)
    await this.connection.selectInput(request.requestor, PROPERTY_CHANGE)
    await this.answer(request, target, data)
    await this.untilDeleted(request)
    await this.settle()
  }

  /** Resolves when the requestor has taken what was written for it. */
  async untilDeleted({ property }: SelectionRequest): Promise<void> {
    for (;;) {
      const event = await this.next('property')
      if (event.property === property && event.isDeleted) return
    }
  }

  /** Asks the owner; `undefined` when it refuses. Leaves the property alone. */
  async convert(target: string, property: string, time = 0): Promise<number | undefined> {
    const [asked, into] = [await this.atom(target), await this.atom(property)]
    this.connection.convertClipboard(asked, into, time)
    const answer = await this.next('converted')
    return answer.property === 0 ? undefined : answer.property
  }

  /** The type and the bytes of a property of ours. */
  async read(property: number, isDeleting = false): Promise<{ type: number; data: Buffer }> {
    const part = { offset: 0, length: 16 * 1024 * 1024, isDeleting }
    return this.connection.getProperty(this.window, property, part)
  }

  /** Pastes in one piece. */
  async paste(target: string, time = 0): Promise<Buffer | undefined> {
    const property = await this.convert(target, 'PASTE', time)
    return property === undefined ? undefined : (await this.read(property, true)).data
  }

  async #serve(): Promise<void> {
    for (;;) {
      const request = await this.next('requested')
      const targets = ['TARGETS', ...Object.keys(this.#formats ?? {})]
      const atoms = await Promise.all(targets.map((name) => this.atom(name)))
      const name = targets[atoms.indexOf(request.target)]
      const data = name === undefined ? undefined : this.#formats?.[name]
      if (name === 'TARGETS') await this.answer(request, 'ATOM', targets)
      else if (name === undefined || data === undefined) await this.refuse(request)
      else await this.answer(request, name, data)
    }
  }

  #mailboxOf(kind: string): Mailbox<SelectionEvent> {
    const mailbox = this.#mailboxes.get(kind) ?? new Mailbox()
    this.#mailboxes.set(kind, mailbox)
    return mailbox
  }
}
