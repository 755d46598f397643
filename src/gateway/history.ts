/**
 * `/api/history/…`: for clients that keep a history. There is none here; all answers are made of
 * the current item.
 * @module
 */

import {
  isComputedHash,
  isFileLike,
  type Item,
  type ItemType,
  matchesHash,
  MOST_JSON_BYTES,
  parseItemType,
  parseProfileId,
  type ProfileId,
} from '../core/item.ts'
import { KIB } from '../core/limits.ts'
import type { Call, Handler } from '../http/call.ts'
import { found, HttpError } from '../http/http-error.ts'
import { parseJson } from '../http/json-body.ts'
import { readBytes, skipBody } from '../http/read-body.ts'
import { encodedJson, json, type Reply } from '../http/reply.ts'
import { encodeWithText, preparedBytes, withChanges } from '../lib/long-text.ts'
import { Semaphore } from '../lib/semaphore.ts'
import { Shares } from '../lib/shares.ts'
import type { Device } from '../ports/device-registry.ts'
import type { StoredItem } from '../ports/latest-item.ts'
import { readUrlencoded } from '../http/urlencoded.ts'
import { bindToRead, blobReply } from './file.ts'
import type { HandlerDeps } from './gateway-ports.ts'
import {
  decodeHistoryFilter,
  encodeRecord,
  encodeStatistics,
  HISTORY_FILTER_FIELDS,
  isWanted,
  type HistoryFilter,
  type HistoryRecord,
  type RecordState,
} from './wire/history.ts'
import { isMultipart, readMultipartForm } from './read-form.ts'
import { FieldPicker, pickFields, type Fields } from './wire/fields.ts'

type ProfileParams = { readonly profileId: string }
type HashParams = { readonly type: string; readonly hash: string }

/**
 * The record of the current item, of the latest one that has bytes, or of one that this device has
 * just sent.
 */
export function getRecord(deps: HandlerDeps): Handler<Device, ProfileParams> {
  const { latest, dialects, records, staging } = deps
  return async (call) => {
    const id = readProfileId(call.params.profileId)
    const { id: deviceId } = call.principal
    const stored = findItem([latest.current, latest.binary], id, dialects.mayHashOtherwise(call))
    if (stored !== undefined) {
      // It leaves out what it would upload, and only its own word says that this is the item.
      if (!isComputedHash(stored.item, id.hash)) await staging.bind(deviceId)
      return recordReply(stored.item, id.hash)
    }
    const kept = records.find(deviceId, id)
    // A client that reads 200 does not upload the bytes, so they have to be here.
    const bytes = kept?.bytes
    const waiting = bytes && staging.staged(deviceId, bytes.dataName)?.blob.digests.sha256
    if (kept === undefined || waiting !== bytes?.contentHash) throw new HttpError('NOT_FOUND')
    return heldJson(call, withChanges(kept.record, { hash: id.hash }))
  }
}

/** The bytes of the latest item that has some, as at `/file/{dataName}`. */
export function getRecordData(deps: HandlerDeps): Handler<Device, ProfileParams> {
  const { latest, dialects, staging, transfers } = deps
  return async (call) => {
    const id = readProfileId(call.params.profileId)
    const isLenient = dialects.of(call) === 'sync'
    const candidates = [latest.current, latest.binary]
    const stored = found(findItem(candidates, id, isLenient, !dialects.knowsGroups(call)))
    await bindToRead(stored, call.principal, { latest, staging })
    return blobReply(stored, { deviceId: call.principal.id, transfers })
  }
}

/** Answers with the record of the current item, and changes nothing. */
export function patchRecord(deps: HandlerDeps): Handler<Device, HashParams> {
  const { latest, dialects, maxMetadataBytes } = deps
  return async (call) => {
    const id = readHash(call.params)
    await skipBody(call, maxMetadataBytes)
    const { item } = found(findItem([latest.current], id, dialects.of(call) === 'sync'))
    return recordReply(item, id.hash)
  }
}

/**
 * Answers with a record of no item. Each answer has the text to itself until it was read.
 *
 * @param record Its text may have been prepared.
 * @throws {HttpError} `OVERLOADED`.
 */
export function heldJson(call: Pick<Call, 'holdBytes'>, record: HistoryRecord): Reply {
  // Before it is encoded: whoever finds no room has cost nothing.
  const most = preparedBytes(record) ?? MOST_JSON_BYTES * record.text.length
  call.holdBytes(most, most)
  const json = encodeWithText(record, (record) => JSON.stringify(record))
  return encodedJson(typeof json === 'string' ? json : { ...json, isOwn: true })
}

/** Answers with the record of an item. @param state What its client says of it. */
export function recordReply(item: Item, hash: string, state?: RecordState): Reply {
  return encodedJson(
    encodeWithText(item, (item, length) => JSON.stringify(encodeRecord(item, hash, state, length))),
  )
}

/** Answers with the figures that a client shows about a history, made of the one item. */
export function getStatistics({ latest }: HandlerDeps): Handler<Device> {
  return () => json(encodeStatistics(latest.current?.item))
}

function readProfileId(text: string): ProfileId {
  const id = parseProfileId(text)
  if (id === undefined) throw new HttpError('BAD_PATH', 'expected {type}-{hash}')
  return id
}

/** Some clients put the whole profile id where the hash belongs. */
function readHash(params: HashParams): ProfileId {
  const type = parseItemType(params.type)
  if (type === undefined) throw new HttpError('BAD_PATH', 'no such item type')
  const { hash } = params
  const embedded = parseProfileId(hash)
  if (embedded === undefined) return { type, hash }
  if (embedded.type === type) return embedded
  throw new HttpError('BAD_PATH', 'the profile id is of another type')
}

/**
 * The first of `candidates` that answers to a profile id.
 *
 * @param isLenient Whether the type is enough for Image and File. In the dialect `sync` it is, as
 *   clients hash in ways of their own; but not where they ask before they upload.
 * @param isZip Whether a Group is a File as well, as its document tells a client that knows none.
 */
function findItem<Stored extends Pick<StoredItem, 'item'>>(
  candidates: readonly (Stored | undefined)[],
  id: ProfileId,
  isLenient: boolean,
  isZip = false,
): Stored | undefined {
  return candidates.find(
    (stored): stored is Stored =>
      stored !== undefined && answersTo(stored.item, id, isLenient, isZip),
  )
}

function answersTo(item: Item, { type, hash }: ProfileId, isLenient: boolean, isZip: boolean) {
  const known = isZip && item.type === 'Group' ? 'File' : item.type
  if (matchesHash(item, hash)) return isSameKind(known, type) || isSameKind(item.type, type)
  return isLenient && item.type === type && isFileLike(type)
}

/** A file that was pushed as a File may have turned out to be an Image. */
function isSameKind(a: ItemType, b: ItemType): boolean {
  return a === b || (isFileLike(a) && isFileLike(b))
}

const JSON_TYPE = /^[^;]*\bjson\b/i

/** JSON, whatever it is called: `curl -d` calls it a form. */
const JSON_OBJECT = /^\s*\{/

/** Those of clients have a few hundred bytes. */
const MAX_QUERY_BYTES: number = 64 * KIB

/** Searches of one device that wait at the same time. */
const MAX_SEARCHES = 4

/** Answers with the record of the current item, if that is one of those asked for. */
export function queryHistory(deps: HandlerDeps): Handler<Device> {
  const { latest, dialects, maxMetadataBytes } = deps
  // One at a time: the pieces of all others would come between two turns of everybody else.
  const searches = new Semaphore(1)
  const waiting = new Shares()
  const search = async (call: Call<Device>, item: Item, filter: HistoryFilter) => {
    if (filter.searchText === '') return isWanted(item, filter)
    const { principal, signal } = call
    if (waiting.of(principal.id) >= MAX_SEARCHES) throw new HttpError('OVERLOADED')
    waiting.add(principal.id, 1)
    try {
      return await searches.run(() => isWanted(item, filter, signal))
    } finally {
      waiting.add(principal.id, -1)
    }
  }
  return async (call) => {
    const filter = decodeHistoryFilter(
      await readFields(call, Math.min(maxMetadataBytes, MAX_QUERY_BYTES)),
    )
    const item = latest.current?.item
    const isFound = item !== undefined && (await search(call, item, filter))
    if (!isFound) return json([])
    const hash = dialects.hashFor(item, call)
    return encodedJson(
      encodeWithText(item, (item, length) =>
        JSON.stringify([encodeRecord(item, hash, {}, length)]),
      ),
    )
  }
}

async function readFields(call: Call, maxBody: number): Promise<Fields> {
  const picker = new FieldPicker(HISTORY_FILTER_FIELDS)
  if (isMultipart(call.request)) {
    // Files mean nothing here.
    const limits = { maxBody, maxFileBytes: maxBody, maxMetadataBytes: maxBody }
    await readMultipartForm(call, picker, limits, async () => undefined)
    return picker.fields
  }
  const body = await readBytes(call, maxBody)
  if (isJson(call, body)) return pickFields(await parseJson(body), HISTORY_FILTER_FIELDS)
  await readUrlencoded(body, picker)
  return picker.fields
}

function isJson({ request }: Call, body: Uint8Array): boolean {
  if (body.length === 0) return false
  if (JSON_TYPE.test(request.headers['content-type'] ?? '')) return true
  return JSON_OBJECT.test(Buffer.from(body.subarray(0, 16)).toString('latin1'))
}
