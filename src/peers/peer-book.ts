/**
 * The daemons that were joined, and their names: the part of joining that needs no connection.
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { SerialQueue } from '../lib/serial-queue.ts'
import { withoutTrailing } from '../lib/without-trailing.ts'
import { parseConnectLink } from '../link/connect-link.ts'
import type { JoinRequest, PeerRecord, PeerStore } from '../ports/peers.ts'

/** A mesh of more is no circle of one person any more. */
const MAX_PEERS = 64

const NAME = /^[^\p{C}\p{Z}/\\]{1,64}$/u

const FINGERPRINT = /^[0-9a-f]{64}$/

/** The records in a store. */
export class PeerBook {
  readonly #store: PeerStore
  readonly #queue = new SerialQueue()

  constructor(store: PeerStore) {
    this.#store = store
  }

  get records(): readonly PeerRecord[] {
    return this.#store.records
  }

  /**
   * The record that a request asks for; nothing is kept yet.
   *
   * @throws {LinkError}; {DomainError} `PEER_INVALID`, `PEER_NAME_TAKEN`.
   */
  prepare({ link, name: wanted, tlsFingerprint }: JoinRequest): PeerRecord {
    const { url, user: username, pwd: password } = parseConnectLink(link)
    if (!URL.canParse(url)) throw invalid('the URL in the link is malformed')
    const base = withoutTrailing(url, '/')
    const pin = tlsFingerprint?.replaceAll(':', '').toLowerCase()
    if (pin !== undefined && !FINGERPRINT.test(pin)) {
      throw invalid('the fingerprint must be the SHA-256 of a certificate, 64 hex digits')
    }
    if (pin !== undefined && new URL(base).protocol !== 'https:') {
      throw invalid('a fingerprint is of use with https only')
    }
    const name = wanted ?? this.#freeName(base)
    if (!NAME.test(name)) throw invalid('a name is 1 to 64 characters, without blanks and slashes')
    const namesake = this.records.find((record) => record.name === name)
    if (namesake !== undefined && namesake.url !== base) {
      const message = `Cannot join: "${name}" is the name of ${namesake.url}`
      throw new DomainError('PEER_NAME_TAKEN', message)
    }
    return { name, url: base, username, password, tlsFingerprint: pin }
  }

  /** Keeps a record; one of the same name gives way. */
  put(record: PeerRecord): Promise<void> {
    return this.#queue.run(async () => {
      const others = this.records.filter(({ name }) => name !== record.name)
      if (others.length >= MAX_PEERS) throw invalid(`${MAX_PEERS} daemons are joined already`)
      await this.#store.save([...others, record])
    })
  }

  /** Removes a record. @throws {DomainError} `NO_SUCH_PEER`, `NO_SPACE`. */
  remove(name: string): Promise<void> {
    return this.#queue.run(async () => {
      const others = this.records.filter((record) => record.name !== name)
      if (others.length === this.records.length) {
        const message = `Cannot find a joined daemon "${name}"; see clipgate peers`
        throw new DomainError('NO_SUCH_PEER', message)
      }
      await this.#store.save(others)
    })
  }

  /** The name of the same URL, so that joining again replaces it; else the host, or numbered. */
  #freeName(url: string): string {
    const known = this.records.find((record) => record.url === url)
    if (known !== undefined) return known.name
    const { host } = new URL(url)
    const taken = new Set(this.records.map((record) => record.name))
    let name = host
    for (let number = 2; taken.has(name); number += 1) name = `${host}-${number}`
    return name
  }
}

function invalid(reason: string): DomainError {
  return new DomainError('PEER_INVALID', `Cannot join: ${reason}`)
}
