/**
 * The connections to all joined daemons: made at start, and when one is joined; ended when it is
 * left.
 * @module
 */

import { ClientError } from '../client/client-error.ts'
import { systemTiming, type Timing } from '../client/timing.ts'
import { isTooSlow } from '../client/watchdog.ts'
import { DomainError } from '../core/domain-error.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { CircleTime } from '../ports/circle-time.ts'
import type { JoinRequest, PeerRecord, Peers, PeerStore, PeerSummary } from '../ports/peers.ts'
import { openClient, type OpenClient } from './open-client.ts'
import { PeerBook } from './peer-book.ts'
import { PeerConnection, type PeerConnectionDeps } from './peer-connection.ts'

/** The ports of all connections, and where they are kept. */
export interface PeerConnectionsDeps
  extends Omit<PeerConnectionDeps, 'client' | 'timing' | 'onChange'> {
  readonly store: PeerStore
  readonly circleTime: CircleTime
}

interface OpenConnection {
  readonly connection: PeerConnection
  readonly client: OpenClient
}

/** The joined daemons of a running daemon. */
export class PeerConnections implements Peers {
  readonly #deps: PeerConnectionsDeps
  readonly #book: PeerBook
  readonly #open = new Map<string, OpenConnection>()
  readonly #watchers = new Subscribers()

  constructor(deps: PeerConnectionsDeps) {
    this.#deps = deps
    this.#book = new PeerBook(deps.store)
  }

  /** Connects to all that were joined. */
  start(): void {
    for (const record of this.#book.records) this.#connect(record)
  }

  /** Calls `listener` when a daemon comes or goes, or a connection changes. @returns Ends it. */
  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((name) => this.#disconnect(name)))
  }

  list(): readonly PeerSummary[] {
    return this.#book.records.map((record) => this.#summarise(record))
  }

  async join(request: JoinRequest): Promise<PeerSummary> {
    const record = this.#book.prepare(request)
    await probe(record, systemTiming)
    await this.#book.put(record)
    await this.#disconnect(record.name)
    this.#connect(record)
    this.#watchers.notify()
    return this.#summarise(record)
  }

  async leave(name: string): Promise<{ readonly name: string }> {
    await this.#book.remove(name)
    await this.#disconnect(name)
    this.#watchers.notify()
    return { name }
  }

  #connect(record: PeerRecord): void {
    const client = openClient(record, { circleTime: this.#deps.circleTime })
    const connection = new PeerConnection(record.name, {
      ...this.#deps,
      client,
      timing: systemTiming,
      onChange: () => this.#watchers.notify(),
    })
    this.#open.set(record.name, { connection, client })
    connection.start()
  }

  async #disconnect(name: string): Promise<void> {
    const open = this.#open.get(name)
    if (open === undefined) return
    this.#open.delete(name)
    await open.connection.close()
    open.client.close()
  }

  #summarise(record: PeerRecord): PeerSummary {
    const { state, error } = this.#open.get(record.name)?.connection.status ?? STOPPED
    return summarisePeer(record, state, error)
  }
}

const STOPPED = { state: 'stopped', error: undefined } as const

/** While no daemon runs here: what is joined now is linked at the next start. */
export function createIdlePeers(store: PeerStore, timing: Timing = systemTiming): Peers {
  const book = new PeerBook(store)
  return {
    list: () => book.records.map((record) => summarisePeer(record, 'stopped', undefined)),
    join: async (request) => {
      const record = book.prepare(request)
      await probe(record, timing)
      await book.put(record)
      return summarisePeer(record, 'stopped', undefined)
    },
    leave: async (name) => {
      await book.remove(name)
      return { name }
    },
  }
}

/** Codes of a certificate that is not accepted, as OpenSSL and we spell them. */
const CERTIFICATE = /CERT|ERR_TLS|UNABLE_TO/

/** Shorter than a command waits for its own daemon, so that the right one is blamed. */
const PROBE_MS = 12_000
const PROBE_SILENCE_MS = 10_000

/** Refuses what will never work; a daemon that is away now may come back. */
async function probe(record: PeerRecord, timing: Timing): Promise<void> {
  const client = openClient(record, { timeoutMs: PROBE_SILENCE_MS, timing })
  const late = new AbortController()
  const cancel = timing.after(PROBE_MS, () => late.abort(refused(SLOW)))
  try {
    const document = await client.latest({ signal: late.signal })
    if (document.contentId === undefined || document.stamp !== undefined) return
    throw refused('its link is for a phone; make one there with: clipgate pair --kind peer')
  } catch (error) {
    if (!(error instanceof ClientError)) throw error
    if (CERTIFICATE.test(error.reason ?? '')) {
      throw refused(`${error.message}; check the certificate, or pin it with --tls-fingerprint`)
    }
    if (isTooSlow(error)) throw refused(SLOW)
    if (error.code === 'UNREACHABLE' || error.code === 'TIMEOUT' || error.code === 'REFUSED') return
    throw refused(error.message)
  } finally {
    cancel()
    client.close()
  }
}

const SLOW = 'that daemon answers too slowly'

function refused(reason: string): DomainError {
  return new DomainError('PEER_REFUSED', `Cannot join: ${reason}`)
}

function summarisePeer(
  { name, url, username, tlsFingerprint }: PeerRecord,
  state: PeerSummary['state'],
  error: string | undefined,
): PeerSummary {
  return { name, url, username, tlsFingerprint, state, error }
}
