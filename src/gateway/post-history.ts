/**
 * `POST /api/history`: a client adds what it copied to its history; to us that is a push.
 * @module
 */

import { matchesHash, type Item } from '../core/item.ts'
import { OLD_RECORD_MS } from '../core/limits.ts'
import { jsonLengthOf } from '../core/text-length.ts'
import { tooLarge } from '../http/body-inbox.ts'
import type { Call, Handler } from '../http/call.ts'
import { encodedJson, json, type Reply } from '../http/reply.ts'
import type { Device } from '../ports/device-registry.ts'
import type { AppliedItem, InboundItem } from '../ports/inbound-pipeline.ts'
import { unauthorized } from './authenticate.ts'
import type { HandlerDeps } from './gateway-ports.ts'
import { receiveHistoryForm, type ReceivedForm } from './receive-history-form.ts'
import { encodeItem } from './wire/encode-item.ts'
import type { HistoryForm } from './wire/history-form.ts'
import { encodeRecord, type RecordSubject } from './wire/history-record.ts'

/**
 * Makes the item of a form current, and answers with its record; one that is old is only kept for
 * a while.
 */
export function postHistory(deps: HandlerDeps): Handler<Device> {
  return async (call) => {
    const received = await receiveHistoryForm(call, deps)
    const { clock, latest, dialects } = deps
    const isPush = dialects.of(call) === 'sync'
    const isKept = !isPush && isOld(received.form, latest.current?.item, clock.now())
    return (isKept ? keep : apply)(received, call, deps)
  }
}

/** Clients of the reference protocol send all of their history when they first meet a server. */
function isOld({ state }: HistoryForm, current: Item | undefined, now: number): boolean {
  if (current === undefined) return false
  const { createTime, lastAccessed = createTime } = state
  // A clock that was set back since must not make old what is new.
  const latest = Math.min(current.activatedAt, now)
  return lastAccessed !== undefined && lastAccessed < latest - OLD_RECORD_MS
}

async function apply(
  received: ReceivedForm,
  call: Call<Device>,
  { inbound, clock, dialects, maxMetadataBytes }: HandlerDeps,
): Promise<Reply> {
  const { form, file } = received
  const { type, hash, hasData, state } = form
  let applied: AppliedItem
  try {
    // All of the text comes into memory: it is refused now, or not at all.
    const most = file?.upload.blob.size ?? (hasData ? maxMetadataBytes : 0)
    if (type === 'Text') call.holdBytes(most, most)
    // Programs of the reference protocol push the document as well.
    const isRecord = dialects.of(call) === 'syncclipboard'
    applied = await inbound.apply({ ...toInbound(received, call.principal), isRecord })
  } catch (error) {
    await file?.upload.discard()
    throw error
  }
  await file?.upload.release()
  const { item } = applied
  dialects.notePush(call, hash, item)
  // An empty text is acknowledged only: the current item is another one.
  if (item === undefined || !matchesHash(item, hash)) {
    return json(encodeRecord(describe(received, clock.now()), hash, state))
  }
  return encodedJson(encodeItem(item, (item) => JSON.stringify(encodeRecord(item, hash, state))))
}

/**
 * Its bytes stay staged: should the clock of the device be wrong, and a document follow, nothing is
 * lost.
 */
async function keep(
  received: ReceivedForm,
  { principal: { id: deviceId, passwordHash } }: Call<Device>,
  { records, clock, devices, maxMetadataBytes }: HandlerDeps,
): Promise<Reply> {
  const { form, file } = received
  const { hash, state, text } = form
  // As is the text of an item: the answer has it.
  if (jsonLengthOf(Buffer.from(text)) > maxMetadataBytes) {
    await file?.upload.discard()
    throw tooLarge(maxMetadataBytes)
  }
  await file?.upload.stage(file)
  // The records of a device are forgotten with its credential; none may be kept after that.
  if (!devices.isValid({ deviceId, passwordHash })) throw unauthorized()
  const { createTime, lastAccessed = createTime } = state
  const record = encodeRecord(describe(received, lastAccessed ?? clock.now()), hash, state)
  records.remember(deviceId, { record, dataName: file?.dataName ?? '' })
  return json(record)
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
