/**
 * Sessions of the panel: a signed cookie, and the key that signs them all.
 *
 * Nothing is kept of a session but the key, in a private file, so that sessions survive a restart.
 * A new key ends them all.
 *
 * @module
 */

import { createHmac, randomBytes } from 'node:crypto'
import { describeFailure } from '../lib/describe-failure.ts'
import { SerialQueue } from '../lib/serial-queue.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { PrivateFile } from '../ports/private-file.ts'
import { isSameToken } from './control-token.ts'

/** The file of the key, in the data directory. */
export const PANEL_KEY_FILE = 'panel.key'

/** Long enough not to be a nuisance, short enough for a computer that is given away. */
export const SESSION_TTL_MS: number = 7 * 24 * 60 * 60 * 1000

const KEY_BYTES = 32
const KEY = /^[\w-]{43}$/

const ID_BYTES = 16

/** Unix milliseconds of its end, a random id, and the signature of both. */
const SESSION = /^(([0-9]{1,15})\.[\w-]{22})\.([\w-]{43})$/

export interface PanelSession {
  /** Unix milliseconds. */
  readonly expiresAt: number
}

export interface PanelSessionsDeps {
  readonly keyFile: PrivateFile
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
}

export class PanelSessions {
  readonly #deps: PanelSessionsDeps
  readonly #queue = new SerialQueue()
  #key: Buffer | undefined
  #isLoaded = false

  constructor(deps: PanelSessionsDeps) {
    this.#deps = deps
  }

  /** Begins a session. @returns The value of its cookie. */
  async begin(): Promise<string> {
    const key = await this.#queue.run(() => this.#makeKey())
    const expiresAt = this.#deps.clock.now() + SESSION_TTL_MS
    const session = `${expiresAt}.${randomBytes(ID_BYTES).toString('base64url')}`
    return `${session}.${sign(session, key)}`
  }

  /** The first of these values that is a session which we began, and which has not ended. */
  async find(values: readonly string[]): Promise<PanelSession | undefined> {
    const parsed = values.map((value) => SESSION.exec(value)).filter((match) => match !== null)
    if (parsed.length === 0) return undefined
    const key = this.#isLoaded ? this.#key : await this.#queue.run(() => this.#load())
    if (key === undefined) return undefined
    const now = this.#deps.clock.now()
    for (const [, session = '', expiry, signature = ''] of parsed) {
      const expiresAt = Number(expiry)
      if (isSameToken(signature, sign(session, key)) && now < expiresAt) return { expiresAt }
    }
    return undefined
  }

  /**
   * Ends all sessions, at once and for good.
   *
   * @throws {DomainError} `DATA_DIRECTORY_UNUSABLE`: they would come back with the next start.
   */
  endAll(): Promise<void> {
    return this.#queue.run(async () => {
      this.#key = undefined
      this.#isLoaded = true
      await this.#deps.keyFile.remove()
    })
  }

  async #makeKey(): Promise<Buffer> {
    const known = await this.#load()
    if (known !== undefined) return known
    const { keyFile, logger } = this.#deps
    const key = randomBytes(KEY_BYTES)
    this.#key = key
    try {
      await keyFile.write(`${key.toString('base64url')}\n`)
    } catch (error) {
      // The panel is where one looks when a disk is full.
      logger.warn('Sessions of the panel end with this daemon', { ...describeFailure(error) })
    }
    return key
  }

  async #load(): Promise<Buffer | undefined> {
    if (this.#isLoaded) return this.#key
    const { keyFile, logger } = this.#deps
    try {
      const text = (await keyFile.read())?.trim()
      if (text !== undefined && KEY.test(text)) this.#key = Buffer.from(text, 'base64url')
      else if (text !== undefined) logger.warn(`${PANEL_KEY_FILE} is damaged; sessions have ended`)
    } catch (error) {
      // Nobody is let in with a key that cannot be read, and a new one takes its place.
      const failure = describeFailure(error)
      logger.warn(`Cannot read ${PANEL_KEY_FILE}; sessions have ended`, { ...failure })
    }
    this.#isLoaded = true
    return this.#key
  }
}

function sign(session: string, key: Buffer): string {
  return createHmac('sha256', key).update(`clipgate panel session ${session}`).digest('base64url')
}
