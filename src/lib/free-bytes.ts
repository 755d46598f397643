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
const lent = new WeakMap<object, () => void>()

/** A closed port: all that is sent through it is gone. */
let nowhere: MessagePort | undefined

/** Says that nobody but the receiver has these bytes. */
export function handOver({ buffer, byteLength }: Uint8Array): void {
  if (byteLength >= MIN_BYTES && byteLength === buffer.byteLength) handedOver.add(buffer)
}

/** Says that these bytes are the receiver's until it frees them: other ones may then be there. */
export function lend(bytes: Uint8Array, takeBack: () => void): void {
  lent.set(bytes, takeBack)
}

/**
 * Frees bytes that were handed over, which are empty then, and gives back those that were lent;
 * leaves others, and parts, alone.
 */
export function freeBytes(bytes: Uint8Array): void {
  const takeBack = lent.get(bytes)
  if (takeBack !== undefined) {
    lent.delete(bytes)
    return takeBack()
  }
  const { buffer, byteLength } = bytes
  if (byteLength !== buffer.byteLength || !handedOver.delete(buffer)) return
  nowhere ??= openNowhere()
  nowhere.postMessage(undefined, [buffer as ArrayBuffer])
}

function openNowhere(): MessagePort {
  const { port1 } = new MessageChannel()
  port1.close()
  return port1
}
