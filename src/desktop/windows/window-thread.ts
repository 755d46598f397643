/**
 * The thread that owns the window: Windows tells a window of copies, and gives the clipboard to the
 * thread of a window. It is never busy: a program that copies waits until the one that owned the
 * clipboard has heard of it. So bytes are only copied here, and converted elsewhere.
 *
 * Nothing is polled. While another program has the clipboard open, a timer of the window tries
 * again.
 * @module
 */

import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import { createMessageWindow, loadWin32, passMessagesOn, type Handle, type Win32 } from './win32.ts'

/** Bytes in one format, by its name. */
export type FormatBytes = readonly [type: string, bytes: Uint8Array]

/** A thing to do with the clipboard, while it is open. */
export type WindowRequest = { readonly id: number } & (
  | { readonly do: 'look' }
  | {
      readonly do: 'read'
      readonly change: number
      readonly type: string
      readonly maxBytes: number
    }
  | { readonly do: 'write'; readonly formats: readonly FormatBytes[] }
  | { readonly do: 'release'; readonly change: number }
)

/** As `clipboard-messages.ts` has it, with the bytes. */
export type WindowReply = Readonly<Record<string, unknown>> & { readonly bytes?: Uint8Array }

export type WindowMessage =
  | { readonly kind: 'ready'; readonly window: Handle }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'reply'; readonly id: number; readonly reply: WindowReply }
  | { readonly kind: 'event'; readonly event: Readonly<Record<string, unknown>> }

/** Sent to the window when there are requests for it. */
export const WAKE = 0x8001

const WM_TIMER = 0x0113
const WM_CLIPBOARDUPDATE = 0x031d

const GMEM_MOVEABLE = 2

/** Programs have it open for milliseconds, and those that are slow for a second. */
const PATIENCE_MS = 1500
const STEP_MS = 20

/** Between tries to see what another program copied that has had it open for longer. */
const SLOW_STEP_MS = 500

const TIMER = 1

const LONGEST_NAME = 256

/** Formats of Windows itself, which have numbers and no names. */
const NUMBERS: Readonly<Record<string, number>> = {
  CF_DIB: 8,
  CF_UNICODETEXT: 13,
  CF_HDROP: 15,
  CF_DIBV5: 17,
}

/** Numbers beside a copy that say 0 for no. */
const PERMISSIONS: readonly string[] = ['CanIncludeInClipboardHistory', 'CanUploadToCloudClipboard']

/** A request, or `undefined`: another program has copied. */
type Task = WindowRequest | undefined

/** Owns a window for ever; does what comes on `port` when it is woken. */
export function runWindow(port: MessagePort, tell: (message: WindowMessage) => void): void {
  const clipboard = new WindowsClipboard(loadWin32(), port, tell)
  clipboard.run()
}

class WindowsClipboard {
  readonly #win32: Win32
  readonly #port: MessagePort
  readonly #tell: (message: WindowMessage) => void
  #window: Handle = 0
  readonly #tasks: Task[] = []
  /** Since when the first task has found the clipboard open; `undefined` when it has not. */
  #heldSince: number | undefined
  /** The last change that the daemon knows of. */
  #announced = 0
  #isTroubled = false

  constructor(win32: Win32, port: MessagePort, tell: (message: WindowMessage) => void) {
    this.#win32 = win32
    this.#port = port
    this.#tell = tell
  }

  run(): void {
    const win32 = this.#win32
    const window = createMessageWindow('clipgate', (target, message, first, second) => {
      if (message === WM_CLIPBOARDUPDATE) this.#onUpdate()
      else if (message === WAKE) this.#onWake()
      else if (message !== WM_TIMER) return win32.defWindowProc(target, message, first, second)
      this.#work()
      return 0
    })
    this.#window = window
    if (Number(window) === 0 || !win32.addClipboardFormatListener(window)) {
      return this.#tell({ kind: 'failed', reason: 'no window' })
    }
    this.#announced = win32.getClipboardSequenceNumber()
    if (this.#announced === 0) {
      // Nobody has copied since Windows started, or this session has no clipboard.
      if (!win32.openClipboard(window)) return this.#tell({ kind: 'failed', reason: 'no access' })
      win32.closeClipboard()
    }
    this.#tell({ kind: 'ready', window })
    passMessagesOn()
  }

  #onUpdate(): void {
    if (!this.#tasks.includes(undefined)) this.#tasks.push(undefined)
  }

  #onWake(): void {
    for (let got = receiveMessageOnPort(this.#port); got; got = receiveMessageOnPort(this.#port)) {
      this.#tasks.push(got.message)
    }
  }

  /** Does what there is to do, as far as other programs let it. */
  #work(): void {
    while (this.#tasks.length > 0) {
      const [task] = this.#tasks
      if (task === undefined && this.#isKnown()) {
        this.#tasks.shift()
        continue
      }
      if (!this.#win32.openClipboard(this.#window)) {
        if (this.#mayWait(task)) return
        continue
      }
      this.#heldSince = undefined
      this.#tasks.shift()
      this.#perform(task)
    }
    this.#win32.killTimer(this.#window, TIMER)
  }

  /** Whether to try the same again later; else it was given up. */
  #mayWait(task: Task): boolean {
    const now = performance.now()
    this.#heldSince ??= now
    const isOver = now - this.#heldSince >= PATIENCE_MS
    if (isOver && task !== undefined) {
      this.#heldSince = undefined
      this.#tasks.shift()
      const change = this.#win32.getClipboardSequenceNumber()
      this.#reply(task.id, { outcome: 'held', change })
      return false
    }
    if (isOver && !this.#isTroubled) {
      this.#isTroubled = true
      this.#event({ event: 'trouble', message: 'Another program holds the clipboard' })
    }
    const isAlone = this.#tasks.length === 1
    if (isOver && !isAlone) {
      // The daemon's requests do not wait for it as well.
      this.#tasks.push(this.#tasks.shift())
      this.#heldSince = undefined
      return false
    }
    this.#win32.setTimer(this.#window, TIMER, isOver ? SLOW_STEP_MS : STEP_MS, 0)
    return true
  }

  /** With the clipboard open, which this closes. */
  #perform(task: Task): void {
    try {
      if (task === undefined) this.#announce()
      else this.#reply(task.id, this.#answer(task))
    } catch (error) {
      if (task === undefined) throw error
      this.#reply(task.id, { error: error instanceof Error ? error.message : String(error) })
    } finally {
      this.#win32.closeClipboard()
    }
  }

  #announce(): void {
    if (this.#isTroubled) this.#event({ event: 'trouble' })
    this.#isTroubled = false
    this.#event({ event: 'changed', ...this.#look() })
  }

  #answer(request: WindowRequest): WindowReply {
    switch (request.do) {
      case 'look':
        return this.#look()
      case 'read':
        return this.#read(request)
      case 'write':
        return this.#write(request.formats)
      case 'release':
        return this.#release(request.change)
    }
  }

  #look(): WindowReply {
    const win32 = this.#win32
    const types: string[] = []
    let format = win32.enumClipboardFormats(0)
    while (format !== 0) {
      types.push(this.#nameOf(format))
      format = win32.enumClipboardFormats(format)
    }
    const denied = PERMISSIONS.filter((name) => types.includes(name) && !this.#isGiven(name))
    this.#announced = win32.getClipboardSequenceNumber()
    return { change: this.#announced, types, denied }
  }

  #read({ change, type, maxBytes }: WindowRequest & { readonly do: 'read' }): WindowReply {
    const now = this.#win32.getClipboardSequenceNumber()
    if (now !== change) return { outcome: 'overtaken', change: now }
    const bytes = this.#bytesOf(type, maxBytes)
    // A format that is made only now counts as a change, although nobody copied.
    this.#announced = this.#win32.getClipboardSequenceNumber()
    const outcome = bytes === undefined ? 'absent' : bytes === 'tooLong' ? bytes : 'read'
    return { outcome, change: this.#announced, ...(bytes instanceof Uint8Array && { bytes }) }
  }

  #write(formats: readonly FormatBytes[]): WindowReply {
    if (!this.#win32.emptyClipboard()) throw new Error('Windows does not empty the clipboard')
    for (const [type, bytes] of formats) this.#put(type, bytes)
    this.#win32.closeClipboard()
    // In this order: whoever still owns it then owned it when it was counted.
    const change = this.#win32.getClipboardSequenceNumber()
    if (!this.#isOurs()) return { outcome: 'overtaken', change }
    this.#announced = change
    return { outcome: 'written', change }
  }

  #release(change: number): WindowReply {
    const now = this.#win32.getClipboardSequenceNumber()
    if (!this.#isOurs() && now !== change) return { outcome: 'overtaken', change: now }
    if (!this.#win32.emptyClipboard()) throw new Error('Windows does not empty the clipboard')
    this.#announced = this.#win32.getClipboardSequenceNumber()
    return { outcome: 'released', change: this.#announced }
  }

  /** Copies what is there; `undefined` when there is none. */
  #bytesOf(type: string, maxBytes: number): Uint8Array | 'tooLong' | undefined {
    const win32 = this.#win32
    const memory = win32.getClipboardData(this.#numberOf(type))
    if (Number(memory) === 0) return undefined
    const size = Number(win32.globalSize(memory))
    if (size > maxBytes) return 'tooLong'
    const address = win32.globalLock(memory)
    if (Number(address) === 0) return undefined
    const bytes = new Uint8Array(size)
    win32.copyOut(bytes, address, size)
    win32.globalUnlock(memory)
    return bytes
  }

  #put(type: string, bytes: Uint8Array): void {
    const win32 = this.#win32
    const memory = win32.globalAlloc(GMEM_MOVEABLE, bytes.length)
    const address = Number(memory) === 0 ? 0 : win32.globalLock(memory)
    if (Number(address) === 0) throw new Error('There is not enough memory for what is offered')
    win32.copyIn(address, bytes, bytes.length)
    win32.globalUnlock(memory)
    // From here on it belongs to Windows, unless that fails.
    if (Number(win32.setClipboardData(this.#numberOf(type), memory)) !== 0) return
    win32.globalFree(memory)
    throw new Error('Windows does not take what is offered')
  }

  /** One that cannot be read is not given. */
  #isGiven(permission: string): boolean {
    const value = this.#bytesOf(permission, LONGEST_NAME)
    if (!(value instanceof Uint8Array) || value.length < 4) return false
    return value.subarray(0, 4).some((byte) => byte !== 0)
  }

  /** Whether the newest change is one that the daemon knows, or made. */
  #isKnown(): boolean {
    const change = this.#win32.getClipboardSequenceNumber()
    if (change === this.#announced) return true
    if (!this.#isOurs()) return false
    this.#announced = change
    return true
  }

  #isOurs(): boolean {
    return this.#win32.getClipboardOwner() === this.#window
  }

  #numberOf(type: string): number {
    return NUMBERS[type] ?? this.#win32.registerClipboardFormat(type)
  }

  #nameOf(format: number): string {
    const known = Object.entries(NUMBERS).find(([, number]) => number === format)
    if (known !== undefined) return known[0]
    const name = Buffer.alloc(2 * LONGEST_NAME)
    const length = this.#win32.getClipboardFormatName(format, name, LONGEST_NAME)
    return length > 0 ? name.toString('utf16le', 0, 2 * length) : `CF_${format}`
  }

  #reply(id: number, reply: WindowReply): void {
    this.#tell({ kind: 'reply', id, reply })
  }

  #event(event: Readonly<Record<string, unknown>>): void {
    this.#tell({ kind: 'event', event })
  }
}
