/** The joined daemons in `peers.json`: their passwords too, and never a link. @module */

import { defineJsonFile, writeFileAtomically } from '../lib/atomic-file.ts'
import { arrayOf, type Decoder, decodeString, objectOf, optional } from '../lib/decoder.ts'
import type { JoinedPeer, PeerStore } from '../ports/peers.ts'
import { toCorrupt, toDomainError } from './home/disk-errors.ts'
import { readOwnFile } from './home/own-files.ts'

export const PEERS_FILE = 'peers.json'

const decodePeer: Decoder<JoinedPeer> = objectOf({
  name: decodeString,
  url: decodeString,
  username: decodeString,
  password: decodeString,
  tlsFingerprint: optional(decodeString),
})

const FILE = defineJsonFile({ version: 1, decode: objectOf({ peers: arrayOf(decodePeer) }) })

/** The joined daemons, in memory and in a file. */
export class JsonPeerStore implements PeerStore {
  readonly #path: string
  #peers: readonly JoinedPeer[]

  private constructor(path: string, peers: readonly JoinedPeer[]) {
    this.#path = path
    this.#peers = peers
  }

  /** Reads the file. @throws {DomainError} `DATA_CORRUPT`; `DATA_DIRECTORY_UNUSABLE`. */
  static async open(path: string): Promise<JsonPeerStore> {
    try {
      const text = await readOwnFile(path)
      return new JsonPeerStore(path, text === undefined ? [] : FILE.parse(text).peers)
    } catch (error) {
      throw toCorrupt(path, error, 'restore it, or move it away and join again')
    }
  }

  get peers(): readonly JoinedPeer[] {
    return this.#peers
  }

  async save(peers: readonly JoinedPeer[]): Promise<void> {
    try {
      await writeFileAtomically(this.#path, FILE.format({ peers }))
    } catch (error) {
      throw toDomainError(error, 'Cannot keep the joined daemons')
    }
    this.#peers = peers
  }
}
