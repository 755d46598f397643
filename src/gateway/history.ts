/**
 * `/api/history/…`: for clients that keep a history. There is none here; all answers are made of
 * the current item.
 * @module
 */

import { parseItemType } from '../core/item-type.ts'
import { parseProfileId, type ProfileId } from '../core/profile-id.ts'
import type { Call, Handler } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import { skipBody } from '../http/read-body.ts'
import { json, type Reply } from '../http/reply.ts'
import type { Device, DeviceRegistry } from '../ports/device-registry.ts'
import type { LatestItem } from '../ports/latest-item.ts'
import { dialectOf } from './dialect.ts'
import { blobReply } from './file.ts'
import { findItem } from './find-item.ts'
import type { RememberedRecords } from './remembered-records.ts'
import { encodeRecord, encodeStatistics, type HistoryRecord } from './wire/history-record.ts'

type ProfileParams = { readonly profileId: string }
type HashParams = { readonly type: string; readonly hash: string }

export interface HistoryDeps {
  readonly latest: Pick<LatestItem, 'current' | 'binary'>
  readonly devices: Pick<DeviceRegistry, 'find'>
}

export interface GetRecordDeps extends HistoryDeps {
  readonly records: RememberedRecords
}

/** The record of the current item, or of one that this device has just sent. */
export function getRecord({
  latest,
  devices,
  records,
}: GetRecordDeps): Handler<Device, ProfileParams> {
  return (call) => {
    const id = readProfileId(call.params.profileId)
    const stored = findItem([latest.current], id, dialectOf(call, devices))
    if (stored !== undefined) return recordReply(call, encodeRecord(stored.item, id.hash))
    const kept = records.find(call.principal.id, id)
    if (kept === undefined) throw new HttpError('NOT_FOUND')
    return recordReply(call, { ...kept.record, hash: id.hash })
  }
}

/** The bytes of the latest item that has some, as at `/file/{dataName}`. */
export function getRecordData({ latest, devices }: HistoryDeps): Handler<Device, ProfileParams> {
  return (call) => {
    const id = readProfileId(call.params.profileId)
    const stored = findItem([latest.current, latest.binary], id, dialectOf(call, devices))
    if (stored === undefined) throw new HttpError('NOT_FOUND')
    return blobReply(stored)
  }
}

export interface PatchRecordDeps extends HistoryDeps {
  /** The longest body, in bytes. */
  readonly maxMetadataBytes: number
}

/** Answers with the record of the current item, and changes nothing. */
export function patchRecord({
  latest,
  devices,
  maxMetadataBytes,
}: PatchRecordDeps): Handler<Device, HashParams> {
  return async (call) => {
    const id = readHash(call.params)
    await skipBody(call, maxMetadataBytes)
    const stored = findItem([latest.current], id, dialectOf(call, devices))
    if (stored === undefined) throw new HttpError('NOT_FOUND')
    return recordReply(call, encodeRecord(stored.item, id.hash))
  }
}

/**
 * Answers with a record. Each answer has the text to itself, until the client has read it.
 *
 * @throws {HttpError} `OVERLOADED`.
 */
function recordReply(call: Pick<Call, 'holdBytes'>, record: HistoryRecord): Reply {
  holdText(call, record)
  return json(record)
}

/** @throws {HttpError} `OVERLOADED`. */
export function holdText(call: Pick<Call, 'holdBytes'>, { text }: HistoryRecord): void {
  call.holdBytes(text.length, text.length)
}

/** Answers with the figures that a client shows about a history, made of the one item. */
export function getStatistics({ latest }: Pick<HistoryDeps, 'latest'>): Handler<Device> {
  return () => json(encodeStatistics(latest.current?.item))
}

/** There is nothing to clear. */
export function clearHistory(): Handler<Device> {
  const reply = json({ deleted: 0 })
  return () => reply
}

function readProfileId(text: string): ProfileId {
  const id = parseProfileId(text)
  if (id === undefined) throw new HttpError('BAD_PATH', { detail: 'expected {type}-{hash}' })
  return id
}

/** Some clients put the whole profile id where the hash belongs. */
function readHash(params: HashParams): ProfileId {
  const type = parseItemType(params.type)
  if (type === undefined) throw new HttpError('BAD_PATH', { detail: 'no such item type' })
  const { hash } = params
  const embedded = parseProfileId(hash)
  if (embedded === undefined) return { type, hash }
  if (embedded.type === type) return embedded
  throw new HttpError('BAD_PATH', { detail: 'the profile id is of another type' })
}
