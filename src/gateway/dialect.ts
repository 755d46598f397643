/**
 * Decides which of the two spellings of the protocol a client speaks, and which hash it is told: it
 * verifies downloads with it. Everything asks here.
 *
 * `/Sync.json` is one spelling, whoever asks. Elsewhere the strongest evidence decides: the name of
 * the program, then what its device did last, then the path.
 * @module
 */

import { isComputedHash, isFileLike, isHash, type Item } from '../core/item.ts'
import type { Call } from '../http/call.ts'
import type { Clock } from '../lib/clock.ts'
import type { Device, DeviceRegistry, Dialect, Principal } from '../ports/device-registry.ts'
import { wireHash } from './wire/clipboard-document.ts'

/** Where each dialect has its document. */
export const DOCUMENT_PATHS: Readonly<Record<Dialect, `/${string}`>> = {
  sync: '/Sync.json',
  syncclipboard: '/SyncClipboard.json',
}

/** The programs of the reference project. */
const REFERENCE_CLIENT = /^SyncClipboard/

/** Programs that read the document of the reference protocol, and hash the bytes alone. */
const CLIENT_OF_BYTES = /^UniClipboard/

/** A program that hashes the bytes alone, and posts its history as those of the reference do. */
const CLIENT_WITH_HISTORY = /^UniClip\//

/** The desktop program of version 2; that of version 3 has a 3 there. */
const OLD_DESKTOP = /^SyncClipboard\.[A-Za-z]+2\./

/** The part of a call that tells of its client. */
type ClientCall = Pick<Call<Principal>, 'request' | 'principal' | 'path'>

interface DialectDeps {
  readonly devices: Pick<DeviceRegistry, 'find' | 'noteSighting'>
  readonly clock: Pick<Clock, 'now'>
}

/** A call whose device is noted to have done something. */
type DeedCall = Pick<Call<Principal>, 'request' | 'principal' | 'address'>

/** An item as it was current, without its text, which may be long. */
export type Activation = Pick<Item, 'activatedAt' | 'contentId'>

/** A push. */
interface Push extends Activation {
  readonly hash: string
}

/** The dialect that a normalised path tells; `undefined` for anything but a document path. */
export function dialectOfPath(path: string): Dialect | undefined {
  if (path === DOCUMENT_PATHS.sync) return 'sync'
  return path === DOCUMENT_PATHS.syncclipboard ? 'syncclipboard' : undefined
}

/** Knows which dialect the client of each device speaks. */
export class Dialects {
  readonly #deps: DialectDeps
  /** The last push of each device. */
  readonly #pushed = new Map<string, Push>()
  /** Whether all hashes of a device so far were such that we compute, where there were any. */
  readonly #hashesAsWe = new Map<string, boolean>()

  constructor(deps: DialectDeps) {
    this.#deps = deps
  }

  /** The dialect of a request. */
  of(call: ClientCall): Dialect {
    const known = knownDialect(call)
    if (known !== undefined) return known
    const device = this.#deviceOf(call)
    return device?.reads ?? dialectOfPath(call.path) ?? device?.dialect ?? 'sync'
  }

  /** Whether the client of a request sends a document behind a record that it means. */
  sendsDocuments(call: ClientCall): boolean {
    return this.of(call) === 'syncclipboard' || CLIENT_WITH_HISTORY.test(programOf(call))
  }

  /** The hash of an item for the client of a request: the one that it pushed itself, if it did. */
  hashFor(item: Item, call: ClientCall): string {
    const own = this.#pushed.get(call.principal.id)
    const isOwn = own !== undefined && isSameActivation(own, item)
    if (isOwn && knownDialect(call) === undefined) return own.hash
    const dialect = this.of(call)
    const told = item.aliases.at(-1)
    // Those of version 2 take a Group of their own with another hash for one of somebody else.
    const isTold = item.type === 'Group' && dialect === 'syncclipboard' && this.readsOldKeys(call)
    return isTold && told !== undefined ? told.toUpperCase() : wireHash(item, dialect)
  }

  /**
   * Whether the client of a request reads the keys of versions 1 and 2 only, in which a present
   * document looks empty. It is known by its name, or by what its device has pushed.
   */
  readsOldKeys(call: ClientCall): boolean {
    if (OLD_DESKTOP.test(programOf(call))) return true
    return this.#deviceOf(call)?.usesOldKeys === true
  }

  /**
   * Whether a client that reads the document of the reference protocol knows items of several
   * files. Those that verify the bytes alone do not; to them such an item is a zip.
   */
  knowsGroups(call: ClientCall): boolean {
    const reads = knownDialect(call) ?? this.#deviceOf(call)?.reads
    return reads !== 'sync'
  }

  /** Notes the hash with which a device has pushed an item. */
  notePush(call: DeedCall, hash: string, item: Item | undefined): void {
    if (item === undefined || !isHash(hash)) return
    const { activatedAt, contentId } = item
    this.#pushed.set(call.principal.id, { hash, activatedAt, contentId })
    if (!isFileLike(item.type)) return
    if (isComputedHash(item, hash)) {
      this.noteExact(call)
      this.noteReads(call, hash.toLowerCase() === item.contentHash ? 'sync' : 'syncclipboard')
    } else {
      this.#note(call, { isExact: false })
      this.#hashesAsWe.set(call.principal.id, false)
    }
  }

  /**
   * Whether the client of a request may hash in a way of its own, so that a hash which fits nothing
   * can mean the image or file that is here. From a client that hashes as we do it means another
   * one, which is about to be uploaded.
   */
  mayHashOtherwise(call: ClientCall): boolean {
    const device = this.#deviceOf(call)
    return !this.sendsDocuments(call) && device?.isExact !== true
  }

  /** Whether the device of a request has hashed as we do, and never otherwise. */
  hashesAsWe({ principal }: Pick<ClientCall, 'principal'>): boolean {
    return this.#hashesAsWe.get(principal.id) === true
  }

  /** Notes that a device has sent a hash of content as we compute it. */
  noteExact(call: DeedCall): void {
    const { id } = call.principal
    this.#note(call, { isExact: true })
    if (this.#hashesAsWe.get(id) !== false) this.#hashesAsWe.set(id, true)
  }

  /**
   * Notes that a document of a device was refused since the bytes of its hash are not here. It may
   * have left them out on our word.
   *
   * @param isDoubtful Whether there was an upload for one that hashes otherwise: then the next
   *   attempt decides.
   */
  noteMissing(call: DeedCall, isDoubtful: boolean): void {
    this.#note(call, { isExact: true })
    if (isDoubtful) this.#hashesAsWe.delete(call.principal.id)
  }

  /** Forgets what a device has pushed. */
  forget(deviceId: string): void {
    this.#pushed.delete(deviceId)
    this.#hashesAsWe.delete(deviceId)
  }

  /** Notes what a device does that only clients of one dialect do. */
  noteReads(call: DeedCall, reads: Dialect): void {
    this.#note(call, { reads })
  }

  /** Notes whether a device writes the keys of versions 1 and 2: it reads no others then. */
  noteKeys(call: DeedCall, usesOldKeys: boolean): void {
    this.#note(call, { usesOldKeys })
  }

  /** The principal may be as old as its connection, and the device have changed its ways since. */
  #deviceOf({ principal }: ClientCall): Device | undefined {
    return this.#deps.devices.find(principal.id)
  }

  #note({ request, principal, address }: DeedCall, deed: object): void {
    const { devices, clock } = this.#deps
    const client = request.headers['user-agent']
    devices.noteSighting(principal.id, { at: clock.now(), address, client, ...deed })
  }
}

/** Whether these are of one activation: the same item, which has not become current again since. */
export function isSameActivation(a: Activation, b: Activation): boolean {
  return a.activatedAt === b.activatedAt && a.contentId === b.contentId
}

/** The dialect that a request shows by itself, whatever its device did before. */
function knownDialect(call: ClientCall): Dialect | undefined {
  if (dialectOfPath(call.path) === 'sync') return 'sync'
  const program = programOf(call)
  if (REFERENCE_CLIENT.test(program)) return 'syncclipboard'
  return CLIENT_OF_BYTES.test(program) ? 'sync' : undefined
}

function programOf({ request }: Pick<ClientCall, 'request'>): string {
  return request.headers['user-agent'] ?? ''
}
