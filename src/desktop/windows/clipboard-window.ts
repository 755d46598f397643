/**
 * The window as the rest of the helper has it: requests and replies to a thread of its own, which
 * waits for Windows and cannot wait for anything else.
 * @module
 */

import { MessageChannel, Worker } from 'node:worker_threads'
import { loadWin32, type Win32 } from './win32.ts'
import { WAKE, type WindowMessage, type WindowReply, type WindowRequest } from './window-thread.ts'

type WithoutId<Request> = Request extends unknown ? Omit<Request, 'id'> : never

interface ClipboardWindowOptions {
  /** The program of its thread, which is to call `runWindow`. */
  readonly thread: URL
  readonly onReady: () => void
  readonly onEvent: (event: Readonly<Record<string, unknown>>) => void
  /** It is of no use any more. */
  readonly onFailed: (reason: unknown) => void
}

/** A window that is opened. */
export class ClipboardWindow {
  readonly #win32: Win32 = loadWin32()
  readonly #port = new MessageChannel()
  readonly #waiting = new Map<number, (reply: WindowReply) => void>()
  #wake: () => void = () => undefined
  #lastId = 0

  constructor({ thread, onReady, onEvent, onFailed }: ClipboardWindowOptions) {
    const { port1, port2 } = this.#port
    // Replies come on another way: this one is only looked at by the window.
    port1.unref()
    const worker = new Worker(thread, { workerData: port2, transferList: [port2] })
    worker.on('error', onFailed)
    worker.on('message', (message: WindowMessage) => {
      switch (message.kind) {
        case 'ready':
          this.#wake = () => void this.#win32.postMessage(message.window, WAKE, 0, 0)
          return onReady()
        case 'failed':
          return onFailed(message.reason)
        case 'event':
          return onEvent(message.event)
        case 'reply':
          this.#waiting.get(message.id)?.(message.reply)
          this.#waiting.delete(message.id)
      }
    })
  }

  /** Resolves with the outcome, or with an `error`. */
  ask(request: WithoutId<WindowRequest>): Promise<WindowReply> {
    return new Promise((resolve) => {
      const id = ++this.#lastId
      this.#waiting.set(id, resolve)
      this.#port.port1.postMessage({ ...request, id })
      this.#wake()
    })
  }
}
