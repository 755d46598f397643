/**
 * Cuts what one read of a socket brings, so that Node's parser is given little at once: it works
 * through all of it in one go, where nothing else can be done meanwhile, and 64 KiB may be 10,000
 * chunks of a body, or header fields, which take it a tenth of a second.
 *
 * Each of them ends a line, and so do requests: lines are what is counted.
 * @module
 */

import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { type Connection, connectionOf } from './connection.ts'

/** Lines that are parsed in one go; a header has twenty. */
const MAX_LINES = 128

/** Shorter reads hold few of them. */
const SHORT_BYTES = 512

const LINE_FEED = 0x0a

/**
 * Has the parser of a connection get few lines in each turn of the event loop.
 *
 * @param socket One that Node's parser has got already, and nothing was read from.
 */
export function cutReads(socket: Socket): void {
  socket.push = pushCut
  // With a listener of somebody else, the parser does not read past the stream any more.
  socket.on('data', restBehind)
}

function pushCut(this: Socket, chunk: unknown, encoding?: BufferEncoding): boolean {
  const push = (bytes: unknown): boolean => Readable.prototype.push.call(this, bytes, encoding)
  const connection = connectionOf(this)
  if (chunk === null && connection.takeEnd()) return false
  if (!(chunk instanceof Uint8Array) || isFew(chunk, connection)) return push(chunk)
  let start = 0
  let end = endOfLines(chunk, start)
  while (end < chunk.length && !this.destroyed) {
    push(chunk.subarray(start, end))
    // The rest waits in the stream, unless the parser has let go of that.
    if (connection.isHeavy && this.readableFlowing !== null) connection.restUntilTurn()
    start = end
    end = endOfLines(chunk, start)
  }
  return !this.destroyed && push(chunk.subarray(start))
}

/** A turn is over when the parser was given what takes it long, and more waits behind it. */
function restBehind(this: Socket): void {
  const connection = connectionOf(this)
  if (connection.asksForWebSocket || this.readableFlowing === null) return
  connection.weigh()
  if (this.readableLength === 0) connection.tellEnd()
  else if (connection.isHeavy) connection.restUntilTurn()
}

function isFew(chunk: Uint8Array, { asksForWebSocket, bodyLeft, socket }: Connection): boolean {
  if (chunk.length <= SHORT_BYTES || asksForWebSocket) return true
  // A part of one body, of which its header told the length, is one piece.
  return bodyLeft >= socket.readableLength + chunk.length
}

function endOfLines(chunk: Uint8Array, start: number): number {
  let end = start
  for (let lines = 0; lines < MAX_LINES; lines++) {
    end = chunk.indexOf(LINE_FEED, end) + 1
    if (end === 0) return chunk.length
  }
  return end
}
