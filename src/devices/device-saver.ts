/**
 * Writes the devices file: at once for a change, and again and again while a credential has ended
 * that the file still has. Sightings have a file of their own, which is written now and then.
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { FileHeldError, replaceFile, writeFileAtomically } from '../lib/atomic-file.ts'
import { codeOf, FULL_DISK_CODES, hasCode, isShortage } from '../lib/system-error.ts'
import type { Clock } from '../lib/clock.ts'
import type { Device } from '../ports/device-registry.ts'
import type { Logger } from '../ports/logger.ts'
import { formatDeviceFile, formatSightings, sightingsPath } from './device-file.ts'

/** Phones poll all day, and each write wears a memory card: a crash may lose this much. */
const SIGHTINGS_DELAY_MS = 600_000

/** How a client is answered goes by what was learnt of it, which a kill should not cost. */
const LEARNT_DELAY_MS = 1000

/** One account may be that of two programs, of which each teaches something else. */
const LEARNT_PAUSE_MS = 30_000

/** A change was refused, since it could not be saved; the file may have it all the same. */
const MEND_DELAY_MS = 30_000

/** How long to wait after a change that could not be saved; doubles up to the longest pause. */
const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 60_000

/** Options of a saver: the file, and the devices that go into it. */
export interface DeviceSaverOptions {
  readonly path: string
  readonly clock: Clock
  readonly logger: Logger
  readonly merge: (device: Device) => Device
  /** Calls {@link DeviceSaver.saveDue} in its turn, and rejects as that does. */
  readonly onDue: () => Promise<void>
  /** Called when {@link DeviceSaver.unsaved} has changed. */
  readonly onUnsaved: () => void
}

/** Writes the devices file, and owes what it cannot write. */
export class DeviceSaver {
  readonly #options: DeviceSaverOptions
  #unsaved: string | undefined
  #retryMs = FIRST_RETRY_MS
  /** The files that are written some time later. */
  #due: 'nothing' | 'sightings' | 'learnt' | 'all' = 'nothing'
  /** When something that was learnt may be written again: milliseconds of the monotonic clock. */
  #nextLearntAt = 0
  #cancel: () => void = () => {}
  #isClosed = false

  constructor(options: DeviceSaverOptions) {
    this.#options = options
  }

  /** Why a change that counts already is not in the file; `undefined` when all are. */
  get unsaved(): string | undefined {
    return this.#unsaved
  }

  /**
   * Writes the file. What cannot be written now is tried again later.
   *
   * @throws {DomainError} `NO_SPACE`, `DATA_DIRECTORY_UNUSABLE`.
   */
  async save(devices: readonly Device[]): Promise<void> {
    const { path, merge } = this.#options
    const text = formatDeviceFile(devices.map(merge))
    // Sightings noted from here on are not in the text.
    this.#cancel()
    this.#due = 'nothing'
    try {
      await writeFileAtomically(path, text)
    } catch (cause) {
      // Also brings the file back in line when it was replaced, but not known to be durable.
      this.#saveLater()
      throw saveError(path, cause)
    }
    this.#retryMs = FIRST_RETRY_MS
    if (this.#unsaved === undefined) return
    this.#setUnsaved(undefined)
    this.#options.logger.info('Saved which credentials have ended', { path })
  }

  /** Writes a change that counts already, and owes it when that fails. */
  async saveOrOwe(devices: readonly Device[]): Promise<void> {
    try {
      await this.save(devices)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      this.owe(error.message)
    }
  }

  /** Notes that the file lacks a change that counts already, and why. */
  owe(reason: string): void {
    const remedy = 'it counts until a restart, and is saved when that is possible'
    this.#options.logger.error('Cannot save that a credential has ended', { reason, remedy })
    this.#setUnsaved(reason)
    this.#saveLater()
  }

  /** Notes that sightings have changed. @param isLearnt Something of how a client is answered. */
  saveSightingsLater(isLearnt = false): void {
    if (isLearnt && this.#due !== 'learnt' && this.#due !== 'all') {
      const pauseMs = this.#nextLearntAt - this.#options.clock.monotonic()
      this.#schedule('learnt', Math.max(LEARNT_DELAY_MS, pauseMs))
    } else if (this.#due === 'nothing') this.#schedule('sightings', SIGHTINGS_DELAY_MS)
  }

  /** Writes what was put off. @throws As {@link save}, or the error of a failing system call. */
  async saveDue(devices: readonly Device[]): Promise<void> {
    if (this.#due === 'all') return this.save(devices)
    if (this.#due === 'nothing') return
    const { path, merge, clock } = this.#options
    if (this.#due === 'learnt') this.#nextLearntAt = clock.monotonic() + LEARNT_PAUSE_MS
    this.#due = 'nothing'
    try {
      await replaceFile(sightingsPath(path), formatSightings(devices.map(merge)))
    } catch (error) {
      this.saveSightingsLater()
      throw error
    }
  }

  /** Writes the file some time later: soon, while it lacks a change that counts already. */
  #saveLater(): void {
    const isOwed = this.#unsaved !== undefined
    this.#schedule('all', isOwed ? this.#retryMs : MEND_DELAY_MS)
    if (isOwed) this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS)
  }

  #schedule(due: 'sightings' | 'learnt' | 'all', delayMs: number): void {
    this.#cancel()
    if (this.#isClosed) return
    this.#due = due
    this.#cancel = this.#options.clock.after(delayMs, () => void this.#saveNow())
  }

  /** Writes what was put off, and nothing from then on. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancel()
    await this.#saveNow()
    if (this.#unsaved === undefined) return
    const message = 'Credentials that have ended count again from the next start on'
    this.#options.logger.error(message, { reason: this.#unsaved })
  }

  async #saveNow(): Promise<void> {
    try {
      await this.#options.onDue()
    } catch (error) {
      // A change that is owed was logged when that began.
      if (this.#unsaved !== undefined) return
      this.#options.logger.warn('Cannot save when devices were seen', { reason: String(error) })
    }
  }

  #setUnsaved(reason: string | undefined): void {
    if (reason === this.#unsaved) return
    this.#unsaved = reason
    this.#options.onUnsaved()
  }
}

function saveError(path: string, cause: unknown): DomainError {
  if (hasCode(cause, ...FULL_DISK_CODES)) {
    return new DomainError('NO_SPACE', `Cannot save ${path}: there is no space left`, { cause })
  }
  const message = `Cannot save ${path}: ${reasonOf(cause)}`
  return new DomainError('DATA_DIRECTORY_UNUSABLE', message, { cause })
}

function reasonOf(cause: unknown): string {
  if (cause instanceof FileHeldError) return 'another program has it open; try again'
  if (isShortage(cause)) return 'too many files are open; try again'
  return `the system says ${codeOf(cause) ?? 'an unknown error'}; check the folder and its disk`
}
