/** Port: the daemons that this one has joined. @module */

/** A daemon that was joined, and how to get in. Holds a password: never log one. */
export interface JoinedPeer {
  /** The owner's name for it; unique. */
  readonly name: string
  /** Base URL of its gateway, without a trailing slash. */
  readonly url: string
  readonly username: string
  readonly password: string
  /** SHA-256 of the one certificate that is accepted, in lower-case hex. */
  readonly tlsFingerprint: string | undefined
}

/** Keeps the peers. */
export interface PeerStore {
  /** In the order of joining. */
  readonly peers: readonly JoinedPeer[]
  /** Replaces all peers durably, or keeps the earlier ones. @throws {DomainError} `NO_SPACE`. */
  save(peers: readonly JoinedPeer[]): Promise<void>
}

/** How the connection to another daemon is doing. */
export type PeerState =
  /** No daemon runs here that could be connected. */
  | 'stopped'
  | 'connecting'
  /** Changes are heard of at once. */
  | 'connected'
  /** The other side does not tell changes, so it is asked for them. */
  | 'polling'
  /** There is no connection; it is tried again. */
  | 'waiting'
  /** The credentials are not accepted (any more). */
  | 'refused'

/** A joined daemon as the owner sees it: no password. */
export interface PeerSummary extends Omit<JoinedPeer, 'password'> {
  readonly state: PeerState
  /** The last failure, until the daemon works. */
  readonly error: string | undefined
}

/** The daemon to join. */
export interface JoinRequest {
  readonly link: string
  /** Taken from the URL when absent. */
  readonly name: string | undefined
  readonly tlsFingerprint: string | undefined
}

/** The joined daemons, for their owner. */
export interface Peers {
  list(): readonly PeerSummary[]
  /**
   * Becomes a member beside the daemon of a connect link, now and after each start.
   *
   * @throws {LinkError}; {DomainError} `PEER_INVALID`, `PEER_NAME_TAKEN`, `PEER_REFUSED`,
   *   `NO_SPACE`.
   */
  join(request: JoinRequest): Promise<PeerSummary>
  /** Forgets a daemon that was joined. @throws {DomainError} `NO_SUCH_PEER`, `NO_SPACE`. */
  leave(name: string): Promise<{ readonly name: string }>
}
