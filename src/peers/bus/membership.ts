/**
 * The file in which a member remembers its circle over restarts: its own id, how often it was
 * started, and which start of each other member it has heard of.
 * @module
 */

import { randomBytes } from 'node:crypto'
import { DomainError } from '../../core/domain-error.ts'
import { defineJsonFile, NewerVersionError } from '../../lib/atomic-file.ts'
import { arrayOf, decodeString, objectOf } from '../../lib/decoder.ts'
import type { PrivateFile } from '../../ports/private-file.ts'
import { MAX_ORIGINS, type KnownEpoch } from './replay-guard.ts'
import { decodeEpoch, decodeOrigin } from './signal.ts'

/** Its name in the data directory. */
export const MEMBERSHIP_FILE = 'group.json'

/** The content of the file. */
export interface CircleState {
  /** Id of this member on the bus. */
  readonly member: string
  /** Grows with each start. */
  readonly epoch: number
  /** The circle whose members are known. */
  readonly group: string
  readonly known: readonly KnownEpoch[]
}

const groupFile = defineJsonFile<CircleState>({
  version: 1,
  decode: objectOf({
    member: decodeOrigin,
    epoch: decodeEpoch,
    group: decodeString,
    known: arrayOf(objectOf({ origin: decodeOrigin, epoch: decodeEpoch })),
  }),
})

/** The file of this member, read and counted at start. */
export class Membership {
  readonly #file: PrivateFile
  #state: CircleState

  private constructor(file: PrivateFile, state: CircleState) {
    this.#file = file
    this.#state = state
  }

  /** As it was at this start, but for a {@link rename}. */
  get state(): CircleState {
    return this.#state
  }

  /**
   * Reads it, and counts this start, durably.
   *
   * @param nowMs The clock: should an old copy of the file be restored, members still count
   * further.
   * @throws {DomainError} `DATA_CORRUPT`, `DATA_DIRECTORY_UNUSABLE`.
   */
  static async open(file: PrivateFile, group: string, nowMs: number): Promise<Membership> {
    const earlier = await readState(file)
    const membership = new Membership(file, {
      member: earlier?.member ?? mintMemberId(),
      epoch: Math.max((earlier?.epoch ?? 0) + 1, Math.floor(nowMs / 1000)),
      group,
      known: earlier?.group === group ? earlier.known : [],
    })
    await membership.save(membership.state.known)
    return membership
  }

  /** Takes a new id, which counts at once. {@link save} makes it durable. */
  rename(): void {
    this.#state = { ...this.#state, member: mintMemberId() }
  }

  /** Writes the starts of other members, durably. @throws {DomainError} as `PrivateFile.write`. */
  async save(known: readonly KnownEpoch[]): Promise<void> {
    await this.#file.write(groupFile.format({ ...this.#state, known }))
  }
}

function mintMemberId(): string {
  return `m_${randomBytes(8).toString('hex')}`
}

/** Parses the text of the file. @throws {TypeError} saying what is wrong, without quoting it. */
export function parseMembership(text: string): CircleState {
  const state = groupFile.parse(text)
  return { ...state, known: state.known.slice(-MAX_ORIGINS) }
}

async function readState(file: PrivateFile): Promise<CircleState | undefined> {
  try {
    const text = await file.read()
    return text === undefined ? undefined : parseMembership(text)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const isNewer = error instanceof NewerVersionError
    const remedy = isNewer ? 'run that version' : 'restore it, or move it away and start again'
    const message = `Cannot read ${MEMBERSHIP_FILE}: ${error.message}; ${remedy}`
    throw new DomainError('DATA_CORRUPT', message)
  }
}
