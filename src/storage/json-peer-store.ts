/**
 * The joined daemons in `peers.json`: URL, user name and password of each, and never a link.
 *
 * Takes what this version writes and refuses everything else. Messages never quote the file.
 *
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { writeFileAtomically } from '../lib/atomic-file.ts'
import {
  arrayOf,
  decodeNumber,
  decodeString,
  objectOf,
  optional,
  type Decoder,
} from '../lib/decoder.ts'
import type { PeerRecord, PeerStore } from '../ports/peers.ts'
import { toDomainError } from './disk-errors.ts'
import { readOwnFile } from './own-files.ts'
import { NewerVersionError } from './record-fields.ts'

/** Its name in the data directory. */
export const PEERS_FILE = 'peers.json'

const VERSION = 1

const decodeVersion = objectOf({ version: decodeNumber })

const decodeRecords: Decoder<{ readonly peers: readonly PeerRecord[] }> = objectOf({
  peers: arrayOf(
    objectOf({
      name: decodeString,
      url: decodeString,
      username: decodeString,
      password: decodeString,
      tlsFingerprint: optional(decodeString),
    }),
  ),
})

export class JsonPeerStore implements PeerStore {
  readonly #path: string
  #records: readonly PeerRecord[]

  private constructor(path: string, records: readonly PeerRecord[]) {
    this.#path = path
    this.#records = records
  }

  /**
   * Reads the file; without one nobody was joined.
   *
   * @throws {DomainError} `DATA_CORRUPT`, naming the file and the remedy; `DATA_DIRECTORY_UNUSABLE`.
   */
  static async open(path: string): Promise<JsonPeerStore> {
    try {
      const text = await readOwnFile(path)
      return new JsonPeerStore(path, text === undefined ? [] : parsePeers(text))
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      const remedy =
        error instanceof NewerVersionError
          ? 'run that version'
          : 'restore it, or move it away and join again'
      throw new DomainError('DATA_CORRUPT', `Cannot read ${path}: ${error.message}; ${remedy}`)
    }
  }

  get records(): readonly PeerRecord[] {
    return this.#records
  }

  async save(records: readonly PeerRecord[]): Promise<void> {
    try {
      await writeFileAtomically(this.#path, formatPeers(records))
    } catch (error) {
      throw toDomainError(error, 'Cannot keep the joined daemons')
    }
    this.#records = records
  }
}

/** The text of the file. */
export function formatPeers(peers: readonly PeerRecord[]): string {
  return `${JSON.stringify({ version: VERSION, peers })}\n`
}

/** @throws {TypeError} saying what is wrong, without quoting it. */
export function parsePeers(text: string): readonly PeerRecord[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // Without the cause, which quotes the text.
    throw new TypeError('it is not JSON')
  }
  const { version } = decodeVersion(value)
  if (version > VERSION) throw new NewerVersionError()
  if (version !== VERSION) throw new TypeError('"version" must be 1')
  return decodeRecords(value).peers
}
