/**
 * `POST /api/history`: a client adds something to its history. To us that is a push, or else bytes
 * and a record that wait for a document.
 * @module
 */

import { matchesHash, type Item } from '../core/item.ts'
import { jsonLengthOf } from '../core/text-length.ts'
import { tooLarge } from '../http/read-body.ts'
import type { Call, Handler } from '../http/call.ts'
import { encodedJson, json, type Reply } from '../http/reply.ts'
import type { Clock } from '../lib/clock.ts'
import { Lru } from '../lib/lru.ts'
import { encodeWithText } from '../lib/long-text.ts'
import type { Device } from '../ports/device-registry.ts'
import type { AppliedItem, InboundItem } from '../ports/inbound-pipeline.ts'
import { unauthorized } from './authenticate.ts'
import { isSameActivation, type Activation } from './dialect.ts'
import type { HandlerDeps } from './gateway-ports.ts'
import { heldJson } from './history.ts'
import { receiveHistoryForm, type ReceivedForm } from './receive-history-form.ts'
import { encodeRecord, type RecordSubject } from './wire/history-record.ts'

/** Own times of devices that are remembered, and the newest of each device. */
const MAX_TIMES = 1024
const MAX_DEVICES = 256

/**
 * Answers with the record of a form. In the dialect `sync` it makes the item current, unless the
 * record is older than what is. In `syncclipboard` clients post their history as well, and send a
 * document behind whatever they mean.
 */
export function postHistory(deps: HandlerDeps): Handler<Device> {
  const { latest, dialects, clock } = deps
  const times = new OwnTimes(clock)
  return async (call) => {
    const received = await receiveHistoryForm(call, deps)
    const posted = toPosted(received, call)
    const isKept =
      dialects.of(call) === 'syncclipboard' || times.isOld(posted, latest.current?.item)
    if (isKept) return keep(received, call, deps)
    times.noteBegun(posted)
    const { reply, item } = await apply(received, call, deps)
    if (item !== undefined) times.noteApplied(posted, item)
    return reply
  }
}

/** A record as its device dates it. */
interface Posted {
  readonly deviceId: string
  /** Names the record among those of all devices. */
  readonly key: string
  /** When its content was used last, in Unix milliseconds by the clock of the device. */
  readonly time: number | undefined
}

function toPosted({ form }: ReceivedForm, { principal: { id: deviceId } }: Call<Device>): Posted {
  const { type, hash, state } = form
  const time = state.lastAccessed ?? state.createTime ?? state.lastModified
  return { deviceId, key: JSON.stringify([deviceId, type, hash.toLowerCase()]), time }
}

/**
 * Tells by their own times which records are no pushes but history. A device is compared with
 * itself wherever that is possible: clocks differ.
 */
class OwnTimes {
  readonly #clock: Pick<Clock, 'now'>
  /** The time of each record of late that was applied. */
  readonly #applied = new Lru<string, number>(MAX_TIMES)
  /** By device: the latest time of its records, but never later than it came. */
  readonly #newest = new Lru<string, number>(MAX_DEVICES)
  /** The device whose record became current last, and as what. */
  #last: (Activation & { readonly deviceId: string }) | undefined

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Whether a record is older than the current item, or is one that was current before. */
  isOld({ deviceId, key, time }: Posted, current: Item | undefined): boolean {
    if (time === undefined || current === undefined) return false
    if (time <= (this.#applied.get(key) ?? -Infinity)) return true
    if (time < (this.#newest.get(deviceId) ?? -Infinity)) return true
    const last = this.#last
    const isOwn = last?.deviceId === deviceId && isSameActivation(last, current)
    // A clock that was set back since must not make old what is new.
    return !isOwn && time < Math.min(current.activatedAt, this.#clock.now())
  }

  /** Notes a record before it is applied: others may come meanwhile. */
  noteBegun({ deviceId, time }: Posted): void {
    if (time === undefined) return
    const newest = Math.max(this.#newest.get(deviceId) ?? -Infinity, time)
    this.#newest.set(deviceId, Math.min(newest, this.#clock.now()))
  }

  /** Notes a record that has become the current item. */
  noteApplied({ deviceId, key, time }: Posted, { activatedAt, contentId }: Item): void {
    this.#last = { deviceId, activatedAt, contentId }
    if (time !== undefined) this.#applied.set(key, time)
  }
}

async function apply(
  received: ReceivedForm,
  call: Call<Device>,
  { inbound, clock, dialects, maxMetadataBytes }: HandlerDeps,
): Promise<{ readonly reply: Reply; readonly item: Item | undefined }> {
  const { form, file } = received
  const { type, hash, hasData, state } = form
  let applied: AppliedItem
  try {
    // All of the text comes into memory: it is refused now, or not at all.
    const most = file?.upload.blob.size ?? (hasData ? maxMetadataBytes : 0)
    if (type === 'Text') call.holdBytes(most, most)
    applied = await inbound.apply(toInbound(received, call.principal))
  } catch (error) {
    await file?.upload.discard()
    throw error
  }
  await file?.upload.release()
  const { item } = applied
  dialects.notePush(call, hash, item)
  // An empty text is acknowledged only: the current item is another one.
  if (item === undefined || !matchesHash(item, hash)) {
    const record = encodeRecord(describe(received, clock.now()), hash, state)
    return { reply: json(record), item: undefined }
  }
  const encode = (item: Item): string => JSON.stringify(encodeRecord(item, hash, state))
  return { reply: encodedJson(encodeWithText(item, encode)), item }
}

/** Its bytes stay staged for the document that may follow. */
async function keep(
  received: ReceivedForm,
  call: Call<Device>,
  { records, clock, devices, maxMetadataBytes }: HandlerDeps,
): Promise<Reply> {
  const { id: deviceId, passwordHash } = call.principal
  const { form, file } = received
  const { hash, state, text } = form
  const { createTime, lastAccessed = createTime } = state
  const record = encodeRecord(describe(received, lastAccessed ?? clock.now()), hash, state)
  let reply: Reply
  try {
    // As is the text of an item: the answer has it.
    if (jsonLengthOf(Buffer.from(text)) > maxMetadataBytes) throw tooLarge(maxMetadataBytes)
    reply = heldJson(call, record)
  } catch (error) {
    await file?.upload.discard()
    throw error
  }
  await file?.upload.stage(file)
  // The records of a device are forgotten with its credential; none may be kept after that.
  if (!devices.isValid({ deviceId, passwordHash })) throw unauthorized()
  const bytes = file && { dataName: file.dataName, contentHash: file.upload.blob.digests.sha256 }
  records.remember(deviceId, { record, bytes })
  return reply
}

function toInbound(
  { form, file }: ReceivedForm,
  { id: deviceId, passwordHash }: Device,
): InboundItem {
  const { type, text, dataName, hash, hasData } = form
  const origin = { kind: 'device', deviceId, passwordHash } as const
  const description = { origin, type, text, hash } as const
  if (file !== undefined) {
    const bytes = { kind: 'received', blob: file.upload.blob, mediaType: file.mediaType } as const
    return { ...description, dataName: file.dataName, bytes }
  }
  // As with a document.
  const isInline = type === 'Text' && !hasData
  if (isInline) return { ...description, dataName: '', bytes: { kind: 'none' } }
  return { ...description, dataName, bytes: { kind: 'staged' } }
}

/** Describes an item that is not here, as its client did. */
function describe({ form, file }: ReceivedForm, activatedAt: number): RecordSubject {
  const { type, text, dataName, size } = form
  if (type === 'Text') return { type, text, size: Buffer.byteLength(text), activatedAt }
  const name = file?.dataName ?? dataName
  const bytes = file?.upload.blob.size ?? size ?? 0
  return { type, text: text === '' ? name : text, size: bytes, activatedAt }
}
