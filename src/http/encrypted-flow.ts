/**
 * Bytes of connections with TLS, before they are decrypted. Loaded only where there is TLS.
 *
 * OpenSSL works through all that it is given, in one go and where nothing else can be done
 * meanwhile; a record costs it as much as a small request, whether or not anything is in it. So it
 * is given little in each turn of the event loop, by all clients in turn.
 * @module
 */

import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { Clock } from '../lib/clock.ts'
import { FairQueue } from '../lib/fair-queue.ts'
import { connectionOf } from './connection.ts'

/** Bytes that are decrypted in one turn of the event loop: what one read of a socket brings. */
const TURN_BYTES: number = 64 * 1024

/** Bytes that a record counts for at least, since even a short one has its cost. */
const RECORD_COST = 1024

/** Records of one connection in a turn. */
const MAX_OF_ONE = 16

/**
 * Bytes of records that carry nothing: so many at once, and so many more in each second. Clients
 * have a few, when they change their keys.
 */
const MAX_IDLE_BYTES: number = 16 * 1024
const IDLE_BYTES_PER_MS = 1

/** RFC 8446 section 5.1: its type, its version, and its length in two bytes. */
const RECORD_HEADER_BYTES = 5

/** Whose turn it is, on all connections. */
export class EncryptedTurns {
  /** Within their handshakes: one of them goes on in each turn, by addresses in turn. */
  readonly #unsecured = new FairQueue<EncryptedFlow>(Infinity)
  /** By who has logged in, or by addresses. */
  readonly #secured = new FairQueue<EncryptedFlow>(Infinity)
  #next: NodeJS.Immediate | undefined

  ask(flow: EncryptedFlow): void {
    const queue = flow.isSecured ? this.#secured : this.#unsecured
    queue.add(flow, flow.client)
    this.#next ??= setImmediate(() => this.#takeTurn())
  }

  #takeTurn(): void {
    this.#next = undefined
    this.#unsecured.take()?.goOn(TURN_BYTES)
    for (let left = TURN_BYTES; left > 0; ) {
      const flow = this.#secured.take()
      if (flow === undefined) break
      left -= flow.goOn(left)
    }
    if (this.#secured.size + this.#unsecured.size > 0) {
      this.#next ??= setImmediate(() => this.#takeTurn())
    }
  }
}

/** One connection, as a stream of the bytes that are on the wire. */
export class EncryptedFlow extends Duplex {
  readonly #remoteAddress: string
  readonly #transport: Socket
  readonly #turns: EncryptedTurns
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #record = new RecordCutter()
  #begin: (() => void) | undefined
  /** Bytes that were read and are not handed on. */
  #rest: Buffer | null = null
  #isWanted = false
  #isAsking = false
  #hasEnded = false
  /** The connection that comes out of it, once its handshake is done. */
  #secured: Socket | undefined
  #idleBytes = 0
  #idleSince = 0

  /** @param begin Called in its first turn: has this stream read. */
  constructor(
    transport: Socket,
    turns: EncryptedTurns,
    clock: Pick<Clock, 'monotonic'>,
    begin: () => void,
  ) {
    // Nothing is read ahead here: the transport does that.
    super({ readableHighWaterMark: 0, allowHalfOpen: transport.allowHalfOpen })
    this.#transport = transport
    this.#turns = turns
    this.#clock = clock
    this.#remoteAddress = connectionOf(transport).remoteAddress ?? ''
    this.#begin = begin
    this.on('resume', () => this.#ask())
    const end = (): void => {
      this.#hasEnded = true
      this.#endBehindRest()
    }
    transport
      .on('readable', () => {
        // Else it does not say that it has ended.
        if (transport.readableLength === 0) transport.read()
        this.#ask()
      })
      .once('end', end)
      .once('close', () => this.destroy())
    this.#ask()
  }

  get isSecured(): boolean {
    return this.#secured !== undefined
  }

  /** Who has logged in on it, or else its address. */
  get client(): string {
    const secured = this.#secured
    const known = secured === undefined ? undefined : connectionOf(secured).client
    return known ?? this.#remoteAddress
  }

  /** Its handshake is done: from now on, what comes has to carry something. */
  noteSecured(secured: Socket): void {
    this.#secured = secured
    this.#idleSince = this.#clock.monotonic()
  }

  /**
   * Takes its turn.
   *
   * @param most How much it may cost: it hands on records for as long as there is some left.
   * @returns How much it did cost.
   */
  goOn(most: number): number {
    this.#isAsking = false
    if (this.destroyed) return 0
    const begin = this.#begin
    if (begin !== undefined) {
      this.#begin = undefined
      begin()
      return RECORD_COST
    }
    if (!this.#isWanted) return 0
    let cost = 0
    for (let records = 0; records < MAX_OF_ONE && cost < most; records++) {
      // A record may hold so much for the parser that it wants no more in this turn.
      if (this.isPaused() || this.#transport.destroyed) break
      const length = this.#handOn()
      if (length === 0) break
      cost += Math.max(length, RECORD_COST)
    }
    this.#endBehindRest()
    return cost
  }

  /** Hands on the next record, or what has come of it. @returns How many bytes that was. */
  #handOn(): number {
    const bytes: Buffer | null = this.#rest ?? this.#transport.read()
    if (bytes === null) return 0
    const end = this.#record.endIn(bytes)
    this.#rest = end < bytes.length ? bytes.subarray(end) : null
    const secured = this.#secured
    const before = secured?.bytesRead ?? -1
    this.#isWanted = false
    // All of it is decrypted, and what was in it is parsed, before this returns.
    this.push(bytes.subarray(0, end))
    if (this.#record.isWhole && secured?.bytesRead === before) this.#noteIdle()
    return end
  }

  /** Notes that there was nothing in a record. */
  #noteIdle(): void {
    const now = this.#clock.monotonic()
    // Some are answered, and the answers wait in memory for a client that does not read.
    const forgiven = this.writableLength > 0 ? 0 : (now - this.#idleSince) * IDLE_BYTES_PER_MS
    this.#idleBytes = Math.max(0, this.#idleBytes - forgiven) + this.#record.length
    this.#idleSince = now
    if (this.#idleBytes > MAX_IDLE_BYTES) this.#transport.destroy()
  }

  #ask(): void {
    if (this.#isAsking || this.destroyed) return
    const isReady = this.#begin !== undefined || (this.#isWanted && !this.isPaused())
    if (!isReady || (this.#rest === null && this.#transport.readableLength === 0)) return
    this.#isAsking = true
    this.#turns.ask(this)
  }

  #endBehindRest(): void {
    if (this.#hasEnded && this.#rest === null && !this.readableEnded) this.push(null)
  }

  override _read(): void {
    this.#isWanted = true
    this.#ask()
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#transport.write(chunk, done)
  }

  override _writev(
    chunks: readonly { readonly chunk: Buffer }[],
    done: (error?: Error | null) => void,
  ): void {
    this.#transport.cork()
    const last = chunks.length - 1
    for (const [index, { chunk }] of chunks.entries()) {
      if (index < last) this.#transport.write(chunk)
      else this.#transport.write(chunk, done)
    }
    this.#transport.uncork()
  }

  override _final(done: () => void): void {
    this.#transport.end(done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#rest = null
    this.#transport.destroy()
    done(error)
  }
}

/** Finds where records end, in bytes that come in pieces of any length. */
class RecordCutter {
  /** Bytes that have come of the record under way, or of the one that has ended. */
  length = 0
  /** The newest two bytes of the header; then how many bytes behind it are still to come. */
  #left = 0

  get isWhole(): boolean {
    return this.length >= RECORD_HEADER_BYTES && this.#left === 0
  }

  /** @returns Behind which byte the record ends, or what there is of it. */
  endIn(bytes: Buffer): number {
    if (this.isWhole) this.length = 0
    let end = 0
    while (end < bytes.length && this.length < RECORD_HEADER_BYTES) {
      this.#left = ((this.#left << 8) | (bytes[end] ?? 0)) & 0xffff
      this.length += 1
      end += 1
    }
    if (this.length < RECORD_HEADER_BYTES) return end
    const step = Math.min(this.#left, bytes.length - end)
    this.#left -= step
    this.length += step
    return end + step
  }
}
