/**
 * Handshakes of TLS, after which a connection is served as any other. Loaded only where there is
 * TLS.
 *
 * A handshake costs a hundred times what a request does, all of it here at once. So none begins
 * before its connection has a place and its first bytes are here, and one goes on in each turn of
 * the event loop, by addresses in turn: whatever else is asked meanwhile is answered in between.
 * What comes behind it takes turns too; see `EncryptedFlow`.
 * How long one may take is the business of `ConnectionTable`, which knows it as a header that has
 * not come.
 * @module
 */

import type { Socket } from 'node:net'
import { type SecureContext, TLSSocket } from 'node:tls'
import type { Clock } from '../lib/clock.ts'
import { EncryptedFlow, EncryptedTurns } from './encrypted-flow.ts'

/**
 * Bytes that are encrypted at a time. What is encrypted is a copy, which waits for a client that
 * does not read; until then many share the same bytes.
 */
const MAX_WRITE: number = 32 * 1024

/** The encoding of bytes, by a name of Node that its types do not know. */
const BYTES = 'buffer' as BufferEncoding

/** The first byte of every record that may begin a handshake: RFC 8446 section 5.1. */
const HANDSHAKE_RECORD = 22

/** The handshakes of a server. */
export class Handshakes {
  readonly #context: () => SecureContext
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #turns = new EncryptedTurns()

  /** @param context What the next handshake uses. */
  constructor(context: () => SecureContext, clock: Pick<Clock, 'monotonic'>) {
    this.#context = context
    this.#clock = clock
  }

  /**
   * Makes a handshake when its client has begun it, and calls back once when it is done. When it
   * fails, the connection is closed; so is one that begins with anything else.
   */
  begin(socket: Socket, onSecure: (secured: TLSSocket) => void): void {
    const giveUp = (): void => void socket.destroy()
    // Without its client's end of the connection, no handshake gets done.
    socket.on('error', giveUp).on('end', giveUp)
    socket.once('readable', () => {
      const first: Buffer | null = socket.read()
      if (first?.[0] !== HANDSHAKE_RECORD) {
        socket.destroy()
        return
      }
      socket.unshift(first)
      const flow = new EncryptedFlow(socket, this.#turns, this.#clock, () => {
        socket.off('end', giveUp)
        this.#shake(flow, onSecure)
      })
    })
  }

  #shake(flow: EncryptedFlow, onSecure: (secured: TLSSocket) => void): void {
    const secured = new TLSSocket(flow, {
      isServer: true,
      secureContext: this.#context(),
      ALPNProtocols: ['http/1.1'],
    })
    encryptGradually(secured)
    const giveUp = (): void => void secured.destroy()
    secured.on('error', giveUp).on('end', giveUp)
    // The event of a server that makes its handshakes itself; it comes once.
    secured.once('secure', () => {
      flow.noteSecured(secured)
      onSecure(secured)
      secured.off('error', giveUp).off('end', giveUp)
    })
  }
}

type Done = (error?: Error | null) => void

interface Written {
  readonly chunk: Buffer | string
  readonly encoding: BufferEncoding
}

/**
 * Has a socket encrypt what is written as its client reads. No class: what bundles load late, they
 * can make and not extend.
 */
function encryptGradually(socket: TLSSocket): void {
  const write = socket._write.bind(socket)
  const writeAll = socket._writev?.bind(socket)

  function pour(pieces: Iterator<Buffer, void>, done: Done): void {
    const { value: piece } = pieces.next()
    if (piece === undefined) {
      done()
      return
    }
    write(piece, BYTES, (error) => {
      if (error) done(error)
      else pour(pieces, done)
    })
  }

  socket._write = (chunk: Buffer | string, encoding: BufferEncoding, done: Done): void => {
    if (chunk.length <= MAX_WRITE) write(chunk, encoding, done)
    else pour(piecesOf([{ chunk, encoding }]), done)
  }
  socket._writev = (chunks: Written[], done: Done): void => {
    const length = chunks.reduce((sum, { chunk }) => sum + chunk.length, 0)
    if (length <= MAX_WRITE) writeAll?.(chunks, done)
    else pour(piecesOf(chunks), done)
  }
}

function* piecesOf(chunks: readonly Written[]): Generator<Buffer, void> {
  for (const { chunk, encoding } of chunks) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk
    for (let start = 0; start < bytes.length; start += MAX_WRITE) {
      yield bytes.subarray(start, start + MAX_WRITE)
    }
  }
}
