/**
 * Frees the memory of bytes as soon as they are used up. The garbage collector does so when it
 * next runs, for which a large transfer makes too few objects: tens of megabytes wait for it, in
 * blocks that malloc keeps when they are freed late.
 * @module
 */

import { MessageChannel, type MessagePort } from 'node:worker_threads'

/** Less is not worth the call. */
const MIN_BYTES = 4096

const handedOver = new WeakSet<object>()

/** A closed port: all that is sent through it is gone. */
let nowhere: MessagePort | undefined

/** Says that nobody but the receiver has these bytes. */
export function handOver({ buffer, byteLength }: Uint8Array): void {
  if (byteLength >= MIN_BYTES && byteLength === buffer.byteLength) handedOver.add(buffer)
}

/** Frees bytes that were handed over, which are empty then; leaves others, and parts, alone. */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  if (byteLength !== buffer.byteLength || !handedOver.delete(buffer)) return
  nowhere ??= openNowhere()
  nowhere.postMessage(undefined, [buffer as ArrayBuffer])
}

function openNowhere(): MessagePort {
  const { port1 } = new MessageChannel()
  port1.close()
  return port1
}
