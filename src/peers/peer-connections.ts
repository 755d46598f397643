/**
 * The connections to all joined daemons: made at start, and when one is joined; ended when it is
 * left.
 * @module
 */

import { ClientError } from '../client/client-error.ts'
import { keepAliveClock, type Clock } from '../lib/clock.ts'
import { isTooSlow } from '../client/watchdog.ts'
import { DomainError } from '../core/domain-error.ts'
import { Semaphore } from '../lib/semaphore.ts'
import { Subscribers } from '../lib/subscribers.ts'
import { withoutTrailing } from '../lib/without-trailing.ts'
import { parseConnectLink } from '../link/connect-link.ts'
import type { CircleTime } from '../ports/circle-time.ts'
import type { JoinRequest, JoinedPeer, Peers, PeerStore, PeerSummary } from '../ports/peers.ts'
import { openClient, type DaemonClient } from './open-client.ts'
import { PeerConnection, type PeerConnectionDeps } from './peer-connection.ts'

/** A mesh of more is no circle of one person any more. */
const MAX_PEERS = 64

const NAME = /^[^\p{C}\p{Z}/\\]{1,64}$/u

const FINGERPRINT = /^[0-9a-f]{64}$/

/** The ports of all connections, and where they are kept. */
export interface PeerConnectionsDeps extends Omit<PeerConnectionDeps, 'client' | 'onChange'> {
  readonly store: PeerStore
  readonly circleTime: CircleTime
}

interface OpenConnection {
  readonly connection: PeerConnection
  readonly client: DaemonClient
}

/** The joined daemons of a running daemon. */
export class PeerConnections implements Peers {
  readonly #deps: PeerConnectionsDeps
  readonly #book: PeerBook
  readonly #open = new Map<string, OpenConnection>()
  readonly #watchers = new Subscribers()
  readonly #ending = new AbortController()
  /** The joins and leaves under way. */
  readonly #changes = new Set<Promise<unknown>>()

  constructor(deps: PeerConnectionsDeps) {
    this.#deps = deps
    this.#book = new PeerBook(deps.store)
  }

  /** Connects to all that were joined. */
  start(): void {
    for (const peer of this.#book.peers) this.#connect(peer)
  }

  /** Calls `listener` when a daemon comes or goes, or a connection changes. @returns Ends it. */
  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  /** Ends all connections, and what is being joined and left: nothing is kept afterwards. */
  async close(): Promise<void> {
    this.#ending.abort(refused('this daemon stops'))
    await Promise.all([...this.#open.keys()].map((name) => this.#disconnect(name)))
    await Promise.allSettled(this.#changes)
  }

  list(): readonly PeerSummary[] {
    return this.#book.peers.map((peer) => this.#summarise(peer))
  }

  join(request: JoinRequest): Promise<PeerSummary> {
    return this.#change(async () => {
      const peer = await this.#book.join(request, this.#deps.clock, this.#ending.signal)
      await this.#disconnect(peer.name)
      this.#connect(peer)
      return this.#summarise(peer)
    })
  }

  leave(wanted: string): Promise<{ readonly name: string }> {
    return this.#change(async () => {
      const name = await this.#book.remove(wanted)
      await this.#disconnect(name)
      return { name }
    })
  }

  async #change<Result>(run: () => Promise<Result>): Promise<Result> {
    this.#ending.signal.throwIfAborted()
    const change = run()
    this.#changes.add(change)
    try {
      const result = await change
      this.#watchers.notify()
      return result
    } finally {
      this.#changes.delete(change)
    }
  }

  #connect(peer: JoinedPeer): void {
    // It may have been left, or joined again, while another connection to it was closed.
    if (this.#ending.signal.aborted || !this.#book.peers.includes(peer)) return
    const { circleTime, clock } = this.#deps
    const client = openClient(peer, { circleTime, clock })
    const connection = new PeerConnection(peer.name, {
      ...this.#deps,
      client,
      onChange: () => this.#watchers.notify(),
    })
    this.#open.set(peer.name, { connection, client })
    connection.start()
  }

  async #disconnect(name: string): Promise<void> {
    const open = this.#open.get(name)
    if (open === undefined) return
    this.#open.delete(name)
    await open.connection.close()
    open.client.close()
  }

  #summarise(peer: JoinedPeer): PeerSummary {
    return summarisePeer(peer, this.#open.get(peer.name)?.connection.status ?? STOPPED)
  }
}

const STOPPED = { state: 'stopped', error: undefined } as const

/** While no daemon runs here: what is joined now is linked at the next start. */
export function createIdlePeers(store: PeerStore, clock: Clock = keepAliveClock): Peers {
  const book = new PeerBook(store)
  return {
    list: () => book.peers.map((peer) => summarisePeer(peer, STOPPED)),
    join: async (request) => summarisePeer(await book.join(request, clock), STOPPED),
    leave: async (name) => ({ name: await book.remove(name) }),
  }
}

/** Codes of a certificate that is not accepted, as OpenSSL and we spell them. */
const CERTIFICATE = /CERT|ERR_TLS|UNABLE_TO/

/** Shorter than a command waits for its own daemon, so that the right one is blamed. */
const PROBE_MS = 12_000
const PROBE_SILENCE_MS = 10_000

/** Refuses what will never work; a daemon that is away now may come back. */
async function probe(peer: JoinedPeer, clock: Clock, ending?: AbortSignal): Promise<void> {
  const client = openClient(peer, { timeoutMs: PROBE_SILENCE_MS, clock })
  const late = new AbortController()
  const cancel = clock.after(PROBE_MS, () => late.abort(refused(SLOW)))
  const end = (): void => late.abort(ending?.reason)
  ending?.addEventListener('abort', end)
  try {
    const document = await client.latest({ signal: late.signal })
    if (document.contentId === undefined || document.stamp !== undefined) return
    throw refused(`its link is for a phone; ${NEW_LINK}`)
  } catch (error) {
    if (!(error instanceof ClientError)) throw error
    if (CERTIFICATE.test(error.reason ?? '')) {
      throw refused(`${error.message}; check the certificate, or pin it with --tls-fingerprint`)
    }
    if (isTooSlow(error)) throw refused(SLOW)
    if (error.code === 'UNREACHABLE' || error.code === 'TIMEOUT' || error.code === 'REFUSED') return
    const isUnknown = error.code === 'UNAUTHORIZED'
    throw refused(`${error.message}${isUnknown ? `; ${NEW_LINK}` : ''}`)
  } finally {
    cancel()
    ending?.removeEventListener('abort', end)
    client.close()
  }
}

const SLOW = 'that daemon answers too slowly'

const NEW_LINK = 'make a new one there with: clipgate pair --kind peer'

function refused(reason: string): DomainError {
  return new DomainError('PEER_REFUSED', `Cannot join: ${reason}`)
}

function summarisePeer(
  { name, url, username, tlsFingerprint }: JoinedPeer,
  { state, error }: PeerConnection['status'],
): PeerSummary {
  return { name, url, username, tlsFingerprint, state, error }
}

/** The daemons that were joined, and their names. */
export class PeerBook {
  readonly #store: PeerStore
  readonly #queue = new Semaphore(1)

  constructor(store: PeerStore) {
    this.#store = store
  }

  get peers(): readonly JoinedPeer[] {
    return this.#store.peers
  }

  /** Probes and keeps the daemon of a request. @throws As `Peers.join`; the reason of `ending`. */
  async join(request: JoinRequest, clock: Clock, ending?: AbortSignal): Promise<JoinedPeer> {
    const peer = this.prepare(request)
    await probe(peer, clock, ending)
    ending?.throwIfAborted()
    await this.#put(peer)
    return peer
  }

  /**
   * The peer that a request asks for; nothing is kept yet.
   *
   * @throws {LinkError}; {DomainError} `PEER_INVALID`, `PEER_NAME_TAKEN`.
   */
  prepare({ link, name: wanted, tlsFingerprint }: JoinRequest): JoinedPeer {
    const { url, user: username, pwd: password, o } = parseConnectLink(link)
    if (!URL.canParse(url)) throw invalid('the URL in the link is malformed')
    const base = withoutTrailing(url, '/')
    const pin = tlsFingerprint?.replaceAll(':', '').toLowerCase()
    if (pin !== undefined && !FINGERPRINT.test(pin)) {
      throw invalid('the fingerprint must be the SHA-256 of a certificate, 64 hex digits')
    }
    if (pin !== undefined && new URL(base).protocol !== 'https:') {
      throw invalid('a fingerprint is of use with https only')
    }
    const name = wanted ?? this.#freeName(base, o?.['label'])
    if (!NAME.test(name)) throw invalid('a name is 1 to 64 characters, without blanks and slashes')
    const namesake = this.peers.find((peer) => peer.name === name)
    if (namesake !== undefined && namesake.url !== base) {
      const message = `Cannot join: "${name}" is the name of ${namesake.url}`
      throw new DomainError('PEER_NAME_TAKEN', message)
    }
    return { name, url: base, username, password, tlsFingerprint: pin }
  }

  /** Keeps a peer; one of the same name gives way. */
  #put(peer: JoinedPeer): Promise<void> {
    return this.#queue.run(async () => {
      const others = this.peers.filter(({ name }) => name !== peer.name)
      if (others.length >= MAX_PEERS) throw invalid(`${MAX_PEERS} daemons are joined already`)
      await this.#store.save([...others, peer])
    })
  }

  /**
   * Removes a peer.
   *
   * @param wanted Its name; or its URL or host, where no other one has that.
   * @returns Its name.
   * @throws {DomainError} `NO_SUCH_PEER`, `NO_SPACE`.
   */
  remove(wanted: string): Promise<string> {
    return this.#queue.run(async () => {
      const found = this.#find(wanted)
      if (found === undefined) {
        const message = `Cannot find a joined daemon "${wanted}"; see clipgate peers`
        throw new DomainError('NO_SUCH_PEER', message)
      }
      await this.#store.save(this.peers.filter((peer) => peer !== found))
      return found.name
    })
  }

  #find(wanted: string): JoinedPeer | undefined {
    const named = this.peers.find(({ name }) => name === wanted)
    const [only, ...others] = this.peers.filter(({ url }) => {
      const { host, hostname } = new URL(url)
      return [url, host, hostname].includes(wanted)
    })
    return named ?? (others.length === 0 ? only : undefined)
  }

  /**
   * The name of the same URL, so that joining again replaces it; else what the other daemon calls
   * us, so that both sides have one name for it, or the host; numbered where it is taken.
   */
  #freeName(url: string, label = ''): string {
    const known = this.peers.find((peer) => peer.url === url)
    if (known !== undefined) return known.name
    const called = label.trim().replaceAll(/\s+/g, '-')
    const wanted = NAME.test(called) ? called : new URL(url).host
    const taken = new Set(this.peers.map((peer) => peer.name))
    let name = wanted
    for (let number = 2; taken.has(name); number += 1) name = `${wanted}-${number}`
    return name
  }
}

function invalid(reason: string): DomainError {
  return new DomainError('PEER_INVALID', `Cannot join: ${reason}`)
}
