/**
 * `POST /api/history`: a client adds something to its history. To us that is a push, or else bytes
 * and a record that wait for a document.
 *
 * What the bytes are called, and even what they are, may stand behind them in the form. So they
 * are received first, and named when the form has ended.
 * @module
 */

import { cutText, isDataName, isFileLike, isHash, type Item, matchesHash } from '../core/item.ts'
import { MAX_NAME_TEXT_BYTES } from '../core/limits.ts'
import { declaredLength, readBytes, tooLarge } from '../http/read-body.ts'
import type { Call, Handler } from '../http/call.ts'
import { json, type Reply } from '../http/reply.ts'
import type { Clock } from '../lib/clock.ts'
import { lengthOf, prepareText, withChanges } from '../lib/long-text.ts'
import { Lru } from '../lib/lru.ts'
import type { Device, Login } from '../ports/device-registry.ts'
import type { AppliedItem, InboundItem } from '../ports/inbound-pipeline.ts'
import { classifyMediaType, SNIFF_LENGTH } from '../core/media-type.ts'
import { HttpError } from '../http/http-error.ts'
import type { Part } from '../http/multipart.ts'
import { readUrlencoded } from '../http/urlencoded.ts'
import { readStart } from '../lib/read-bytes.ts'
import type { ReceivedUpload } from '../ports/staging-area.ts'
import { unauthorized } from './authenticate.ts'
import { isSameActivation, type Activation } from './dialect.ts'
import type { HandlerDeps } from './gateway-ports.ts'
import { heldJson, recordReply } from './history.ts'
import {
  decodeHistoryForm,
  encodeRecord,
  HISTORY_FORM_FIELDS,
  type HistoryForm,
  type HistoryRecord,
  type Moment,
  type RecordSubject,
} from './wire/history.ts'
import { checkTransferHash, readTransferHash } from './transfer-hash.ts'
import { isDataPart, isMultipart, readMultipartForm } from './read-form.ts'
import { FieldPicker } from './wire/fields.ts'

/** Own times of devices that are remembered, and the newest of each device. */
const MAX_TIMES = 1024
const MAX_DEVICES = 256

/**
 * Answers with the record of a form. In the dialect `sync` it makes the item current, unless the
 * record is older than what is. Others post their history as well, and send a document behind
 * whatever they mean.
 */
export function postHistory(deps: HandlerDeps): Handler<Device> {
  const { latest, dialects, clock } = deps
  const times = new OwnTimes(clock)
  return async (call) => {
    const received = await receiveHistoryForm(call, deps)
    const posted = toPosted(received, call)
    const isRecord = dialects.sendsDocuments(call) || received.form.state.isDeleted === true
    // One that is newer may yet be refused.
    for (let newer = times.newerThan(posted); !isRecord && newer; newer = times.newerThan(posted)) {
      await newer
    }
    if (isRecord || times.isOld(posted, latest.current?.item)) return keep(received, call, deps)
    return (await times.during(posted, () => apply(received, call, deps))).reply
  }
}

/** A record as its device dates it. */
interface Posted {
  readonly deviceId: string
  /** Names the record among those of all devices. */
  readonly key: string
  /** When its content was used last, by the clock of the device. */
  readonly used: Moment | undefined
}

function toPosted({ form }: ReceivedForm, { principal: { id: deviceId } }: Call<Device>): Posted {
  const { type, hash, used } = form
  return { deviceId, key: JSON.stringify([deviceId, type, hash.toLowerCase()]), used }
}

/**
 * Tells by their own times which records are no pushes but history. A device is compared with
 * itself wherever that is possible: clocks differ.
 */
class OwnTimes {
  readonly #clock: Pick<Clock, 'now'>
  /** The time of each record that was applied recently, and when it came by the clock here. */
  readonly #applied = new Lru<string, { readonly time: number; readonly came: number }>(MAX_TIMES)
  /** By device: the latest time of its records, but never later than it came. */
  readonly #newest = new Lru<string, number>(MAX_DEVICES)
  /** Such times of the records that are being applied, and when they no longer are. */
  readonly #begun = new Set<{
    readonly deviceId: string
    readonly time: number
    readonly done: Promise<void>
  }>()
  /** The device whose record became current last, and as what. */
  #last: (Activation & { readonly deviceId: string }) | undefined

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Whether a record is older than the current item, or is one that was current before. */
  isOld({ deviceId, key, used }: Posted, current: Item | undefined): boolean {
    if (used === undefined || current === undefined) return false
    const now = this.#clock.now()
    const { time, came } = this.#applied.get(key) ?? { time: -Infinity, came: 0 }
    // The clock of a device that was ahead may have been put right since.
    const since = used.first > now ? time : Math.min(time, came)
    if (used.first === time || used.first < since) return true
    if (used.first < (this.#newest.get(deviceId) ?? -Infinity)) return true
    const last = this.#last
    if (last?.deviceId === deviceId && isSameActivation(last, current)) return false
    // The clock here was set back since the current item came: its time tells nothing.
    return current.activatedAt <= now && used.last < current.activatedAt
  }

  /** The end of a newer record of the device that is being applied. */
  newerThan({ deviceId, used }: Posted): Promise<void> | undefined {
    const first = used?.first ?? Infinity
    return [...this.#begun].find((one) => one.deviceId === deviceId && first < one.time)?.done
  }

  /** Applies a record, and notes it unless it is refused: older ones wait for that. */
  during({ deviceId, key, used }: Posted, applying: () => Promise<Applied>): Promise<Applied> {
    const time = Math.min(used?.first ?? -Infinity, this.#clock.now())
    const noted = applying().then((applied) => {
      const { item } = applied
      if (item !== undefined) {
        const { activatedAt, contentId } = item
        this.#last = { deviceId, activatedAt, contentId }
      }
      if (used !== undefined) {
        const came = this.#clock.now()
        const newest = Math.max(this.#newest.get(deviceId) ?? -Infinity, time)
        this.#newest.set(deviceId, Math.min(newest, came))
        if (item !== undefined) this.#applied.set(key, { time: used.first, came })
      }
      return applied
    })
    const end = (): void => void this.#begun.delete(begun)
    const begun = { deviceId, time, done: noted.then(end, end) }
    this.#begun.add(begun)
    return noted
  }
}

interface Applied {
  readonly reply: Reply
  /** That the record has become, if it has. */
  readonly item: Item | undefined
}

async function apply(
  received: ReceivedForm,
  call: Call<Device>,
  { inbound, clock, dialects, maxMetadataBytes }: HandlerDeps,
): Promise<Applied> {
  const { form, file } = received
  const { type, hash, hasData, state } = form
  let applied: AppliedItem
  try {
    // All of the text comes into memory: it is refused now, or not at all.
    const most = file?.upload.blob.size ?? (hasData ? maxMetadataBytes : 0)
    if (type === 'Text') call.holdBytes(most, most)
    else call.endTurn()
    applied = await inbound.apply(toInbound(received, call.principal))
  } catch (error) {
    await file?.upload.discard()
    throw error
  }
  await file?.upload.release()
  const { item } = applied
  dialects.notePush(call, hash, item)
  // An empty text is acknowledged only.
  if (item === undefined || !matchesHash(item, hash)) {
    const record = encodeRecord(describe(received, clock.now()), hash, state)
    // The text of an item is in its own record; here it is a name, or nothing.
    const told = { ...record, text: cutText(record.text, MAX_NAME_TEXT_BYTES) }
    return { reply: json(told), item: undefined }
  }
  return { reply: recordReply(item, hash, state), item }
}

/** Its bytes stay staged for the document that may follow. */
async function keep(
  received: ReceivedForm,
  call: Call<Device>,
  { records, clock, devices, dialects, maxMetadataBytes }: HandlerDeps,
): Promise<Reply> {
  const { id: deviceId, passwordHash } = call.principal
  const { form, file } = received
  const { hash, state, utf8 } = form
  const { createTime, lastAccessed = createTime } = state
  const described = describe(received, lastAccessed ?? clock.now())
  const long = { text: described.text }
  let record: HistoryRecord
  let reply: Reply
  try {
    // As long as the text of an item may be, with its quotes.
    if (!(await prepareText(long, maxMetadataBytes + 2, utf8))) throw tooLarge(maxMetadataBytes)
    record = withChanges(encodeRecord(described, hash, state, lengthOf(long)), long)
    reply = heldJson(call, record)
  } catch (error) {
    await file?.upload.discard()
    throw error
  }
  // Programs keep their history in the background: a document may mean anything else of its name.
  await file?.upload.stage({ ...file, knownAs: isHash(hash) ? hash.toLowerCase() : '' })
  // The records of a device are forgotten with its credential; none may be kept after that.
  if (!devices.isValid({ deviceId, passwordHash })) throw unauthorized()
  const bytes = file && { dataName: file.dataName, contentHash: file.upload.blob.digests.sha256 }
  records.remember(deviceId, { record, bytes })
  const isExact = isFileLike(form.type) && hash.toLowerCase() === bytes?.contentHash
  if (isExact) dialects.noteExact(call)
  return reply
}

function toInbound(
  { form, file }: ReceivedForm,
  { id: deviceId, passwordHash }: Device,
): InboundItem {
  const { type, text, utf8, dataName, hash, hasData } = form
  const origin = { kind: 'device', deviceId, passwordHash } as const
  const description = { origin, type, text, hash } as const
  if (file !== undefined) {
    const bytes = { kind: 'received', blob: file.upload.blob, mediaType: file.mediaType } as const
    return { ...description, dataName: file.dataName, bytes }
  }
  // As with a document.
  if (type !== 'Text' || hasData) return { ...description, dataName, bytes: { kind: 'staged' } }
  return { ...description, dataName: '', bytes: utf8 ? { kind: 'utf8', utf8 } : { kind: 'none' } }
}

/** Describes an item that is not here, as its client did. */
function describe({ form, file }: ReceivedForm, activatedAt: number): RecordSubject {
  const { type, text, dataName, size } = form
  if (type === 'Text') return { type, text, size: 0, activatedAt }
  const name = file?.dataName ?? dataName
  const bytes = file?.upload.blob.size ?? size ?? 0
  return { type, text: text === '' ? name : text, size: bytes, activatedAt }
}

/** Bytes that came with a form. The upload must be ended. */
interface ReceivedFile {
  readonly upload: ReceivedUpload
  readonly dataName: string
  readonly mediaType: string
}

/** A form that was read, with its file if it had one. */
interface ReceivedForm {
  readonly form: HistoryForm
  readonly file: ReceivedFile | undefined
}

/** The name of bytes that nobody has named. */
const DEFAULT_NAME = 'clipboard.bin'

/** The file of a form, before anything but its own header is known. */
interface FilePart {
  readonly upload: ReceivedUpload
  /** The one that is meant; another one may have to give way to it. */
  readonly isData: boolean
  readonly fileName: string
  readonly contentType: string | undefined
}

/**
 * Reads a form to its end.
 *
 * @throws {HttpError} `BAD_BODY`, `BAD_NAME`, `history_data_invalid`, and as the readers of bodies;
 *   {DomainError} as `StagingArea.receive`. Nothing is left of its bytes then.
 */
async function receiveHistoryForm(call: Call<Device>, deps: HandlerDeps): Promise<ReceivedForm> {
  const fields = new FieldPicker(HISTORY_FORM_FIELDS)
  if (!isMultipart(call.request)) {
    await readUrlencoded(await readBytes(call, deps.maxMetadataBytes), fields)
    return { form: decodeHistoryForm(fields.fields), file: undefined }
  }

  const { staging, maxFileBytes } = deps
  const promised = readTransferHash(call.request)
  const { id: deviceId, passwordHash } = call.principal
  const login = { deviceId, passwordHash }
  const length = declaredLength(call.request)
  // The fields around the file count too; how much that is shows only behind it.
  const declaredSize = length === undefined ? undefined : Math.min(length, maxFileBytes)
  await staging.admit({ ...login, declaredSize })

  let file: FilePart | undefined
  const discardFile = async (): Promise<void> => {
    const unwanted = file
    file = undefined
    await unwanted?.upload.discard()
  }
  try {
    await readMultipartForm(call, fields, deps, async (part, bytes) => {
      if (file !== undefined && (file.isData || !isDataPart(part))) return
      checkFileName(part)
      await discardFile()
      file = await receivePart(part, bytes, login, deps)
    })
    if (file !== undefined) checkTransferHash(promised, file.upload.blob)
    file?.upload.keep()
    const form = decodeHistoryForm(fields.fields)
    // Some clients add an empty file to every text; it must not take the text's place.
    if (form.type === 'Text' && file?.upload.blob.size === 0) await discardFile()
    return { form, file: file === undefined ? undefined : await nameFile(file, form) }
  } catch (error) {
    await discardFile()
    throw error
  }
}

async function receivePart(
  part: Part,
  bytes: () => number,
  login: Login,
  { staging, transfers }: Pick<HandlerDeps, 'staging' | 'transfers'>,
): Promise<FilePart> {
  const { fileName = '', contentType } = part
  const { deviceId } = login
  const name = fileName === '' ? DEFAULT_NAME : fileName
  // The length of the form is not that of the file.
  const end = transfers?.begin({ direction: 'in', deviceId, name, total: undefined, bytes })
  try {
    const upload = await staging.receive({ ...login, declaredSize: undefined }, part.bytes)
    return { upload, isData: isDataPart(part), fileName, contentType }
  } finally {
    end?.()
  }
}

async function nameFile(
  { upload, fileName, contentType }: FilePart,
  { dataName, text }: HistoryForm,
): Promise<ReceivedFile> {
  // A text may be anything; that it is no name is no reason to refuse the bytes.
  const names = [fileName, dataName, isDataName(text) ? text : '']
  const name = names.find((candidate) => candidate !== '') ?? DEFAULT_NAME
  const head = await readStart(upload.blob, SNIFF_LENGTH)
  return { upload, dataName: name, mediaType: classifyMediaType(contentType, head, name) }
}

function checkFileName({ fileName = '' }: Part): void {
  if (fileName === '' || isDataName(fileName)) return
  throw new HttpError('BAD_NAME', 'the file name is not a plain one')
}
