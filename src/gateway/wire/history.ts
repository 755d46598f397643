/**
 * Wire formats of `/api/history/…`: records and statistics as clients read them, the form that adds
 * one, the query for some, and times in ISO 8601. Only this file knows their field names. What does
 * not parse counts as not sent, unless it is needed.
 * @module
 */

import {
  type Item,
  ITEM_TYPES,
  type ItemType,
  MAX_HASH_LENGTH,
  parseItemType,
} from '../../core/item.ts'
import { MIB } from '../../core/limits.ts'
import { badBody } from '../../http/http-error.ts'
import { textOf } from '../../lib/long-text.ts'
import { containsWord, containsWordIn } from '../../lib/search-text.ts'
import { fieldOf, isBytes, toDataName, toItemType, type Fields } from './fields.ts'

/** A record as clients read it. */
export interface HistoryRecord {
  readonly hash: string
  readonly type: ItemType
  readonly text: string
  /** `YYYY-MM-DDTHH:mm:ss.sssZ`, as the other times. */
  readonly createTime: string
  readonly lastModified: string
  readonly lastAccessed: string
  readonly starred: boolean
  readonly pinned: boolean
  /** Bytes. */
  readonly size: number
  readonly hasData: boolean
  readonly version: number
  readonly isDeleted: boolean
}

/** The facts that a client states about its own record. They are not kept, but told back. */
export interface RecordState {
  /** Unix milliseconds, as the other times. */
  readonly createTime?: number | undefined
  readonly lastModified?: number | undefined
  readonly lastAccessed?: number | undefined
  readonly starred?: boolean | undefined
  readonly pinned?: boolean | undefined
  readonly version?: number | undefined
  readonly isDeleted?: boolean | undefined
}

/** The part of an item that its record tells. */
export type RecordSubject = Pick<Item, 'type' | 'text' | 'size' | 'activatedAt'>

/**
 * The record of an item.
 *
 * @param hash The one that the client asked for or sent, else the one of its dialect.
 * @param state What the client sent with it.
 * @param textLength The units of UTF-16 of its text.
 */
export function encodeRecord(
  { type, text, size, activatedAt }: RecordSubject,
  hash: string,
  state: RecordState = {},
  textLength: number = text.length,
): HistoryRecord {
  const { createTime, lastModified, lastAccessed } = state
  return {
    hash,
    type,
    text,
    createTime: formatTime(createTime ?? activatedAt),
    lastModified: formatTime(lastModified ?? activatedAt),
    lastAccessed: formatTime(lastAccessed ?? activatedAt),
    starred: state.starred ?? false,
    pinned: state.pinned ?? false,
    size: type === 'Text' ? textLength : size,
    hasData: type !== 'Text',
    version: state.version ?? 0,
    isDeleted: state.isDeleted ?? false,
  }
}

/** The statistics of a history that consists of one item, or of none. */
export function encodeStatistics(item: Item | undefined): Readonly<Record<string, number>> {
  const count = item === undefined ? 0 : 1
  const megabytes = (item?.size ?? 0) / MIB
  return {
    totalCount: count,
    starredCount: 0,
    deletedCount: 0,
    activeCount: count,
    totalFileSizeMb: megabytes,
    // Some clients read this spelling.
    totalFileSizeMB: megabytes,
  }
}

/** An item as a client describes it. */
export interface HistoryForm {
  readonly type: ItemType
  /** A hint, not empty. */
  readonly hash: string
  readonly text: string
  /** A long text, of which `text` is the beginning. */
  readonly utf8?: Uint8Array<ArrayBuffer>
  /** Empty, or a valid data name. */
  readonly dataName: string
  readonly hasData: boolean
  /** A hint. */
  readonly size: number | undefined
  /** When its content was used last, by the clock of the client. */
  readonly used: Moment | undefined
  readonly state: RecordState
}

/** The fields that {@link decodeHistoryForm} knows. */
export const HISTORY_FORM_FIELDS: readonly string[] = [
  'type',
  'hash',
  'text',
  'dataName',
  'hasData',
  'size',
  'createTime',
  'lastModified',
  'lastAccessed',
  'starred',
  'pinned',
  'version',
  'isDeleted',
]

/**
 * Decodes a form. All its values are text: what does not parse counts as not sent, unless it is
 * needed.
 *
 * @throws {HttpError} `BAD_BODY` naming the field that is missing or is none; `BAD_NAME`.
 */
export function decodeHistoryForm(fields: Fields): HistoryForm {
  const field = (name: string): string => fieldOf(fields, name, 'string', '')
  const long = fields.get('text')
  const type = toItemType(field('type'))
  const hash = field('hash')
  const [lastAccessed, createTime, lastModified] = [
    parseMoment(field('lastAccessed')),
    parseMoment(field('createTime')),
    parseMoment(field('lastModified')),
  ]
  if (hash === '' || hash.length > MAX_HASH_LENGTH) {
    throw badBody('"hash" is missing or too long')
  }
  return {
    type,
    hash,
    text: field('text'),
    ...(isBytes(long) ? { utf8: long } : {}),
    dataName: toDataName(field('dataName')),
    hasData: parseBoolean(field('hasData')) ?? false,
    size: parseInteger(field('size')),
    used: lastAccessed ?? createTime ?? lastModified,
    state: {
      createTime: createTime?.first,
      lastModified: lastModified?.first,
      lastAccessed: lastAccessed?.first,
      starred: parseBoolean(field('starred')),
      pinned: parseBoolean(field('pinned')),
      version: parseInteger(field('version')),
      isDeleted: parseBoolean(field('isDeleted')),
    },
  }
}

/** `true` and `false` in any letter case. */
function parseBoolean(text: string): boolean | undefined {
  if (text.length > 'false'.length) return undefined
  const word = text.toLowerCase()
  if (word === 'true') return true
  return word === 'false' ? false : undefined
}

function parseInteger(text: string): number | undefined {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** The conditions of a query: which records a client wants to see. */
export interface HistoryFilter {
  /** From 1 on. */
  readonly page: number
  readonly types: ReadonlySet<ItemType>
  readonly starred: boolean | undefined
  /** Unix milliseconds, as the other times. */
  readonly before: number | undefined
  readonly after: number | undefined
  readonly modifiedAfter: number | undefined
  /** In lower case. */
  readonly searchText: string
}

/** The fields that {@link decodeHistoryFilter} knows. */
export const HISTORY_FILTER_FIELDS: readonly string[] = [
  'page',
  'types',
  'starred',
  'before',
  'after',
  'modifiedAfter',
  'searchText',
]

/** Clients disagree on which of 2 and 4 is Image, and which File. */
const BITS: readonly (readonly [bit: number, types: readonly ItemType[]])[] = [
  [1, ['Text']],
  [2, ['Image', 'File']],
  [4, ['Image', 'File']],
  [8, ['Group']],
]

/** Names of several types, or of none, in lower case. */
const SETS: ReadonlyMap<string, readonly ItemType[]> = new Map([
  ['all', ITEM_TYPES],
  ['fileandgroup', ['File', 'Group']],
  ['none', []],
])

/** @param fields Text, or values of JSON. */
export function decodeHistoryFilter(fields: Fields): HistoryFilter {
  const field = (name: string): string => toText(fields.get(name.toLowerCase()))
  const page = field('page')
  return {
    page: /^\d+$/.test(page) ? Number(page) : 1,
    types: parseTypes(field('types')) ?? new Set(ITEM_TYPES),
    starred: parseBoolean(field('starred')),
    before: parseTime(field('before')),
    after: parseTime(field('after')),
    modifiedAfter: parseTime(field('modifiedAfter')),
    searchText: field('searchText').toLowerCase(),
  }
}

/** Whether the record of an item, which is never starred, is one of those. */
export async function isWanted(
  item: Item,
  filter: HistoryFilter,
  signal?: AbortSignal,
): Promise<boolean> {
  const { page, types, starred, searchText } = filter
  const { before = Infinity, after = -Infinity, modifiedAfter = -Infinity } = filter
  return (
    page < 2 &&
    starred !== true &&
    types.has(item.type) &&
    item.activatedAt < before &&
    item.activatedAt > after &&
    item.activatedAt > modifiedAfter &&
    ((await containsWordIn(textOf(item), searchText, signal)) ||
      (await containsWord(item.dataName, searchText)))
  )
}

/** A list of names, or a bit mask; `undefined` when it says nothing. */
function parseTypes(text: string): ReadonlySet<ItemType> | undefined {
  const words = new Set(text.split(/[\s,|]+/))
  const sets = [...words].map(parseTypeSet).filter((set) => set !== undefined)
  return sets.length === 0 ? undefined : new Set(sets.flat())
}

function parseTypeSet(word: string): readonly ItemType[] | undefined {
  if (/^\d{1,9}$/.test(word)) {
    return BITS.flatMap(([bit, types]) => ((Number(word) & bit) === 0 ? [] : types))
  }
  const type = parseItemType(word)
  return type === undefined ? SETS.get(word.toLowerCase()) : [type]
}

/** Lists of lists are no text: nesting can be deep enough to break whoever follows it. */
function toText(value: unknown): string {
  return Array.isArray(value) ? value.map(toWord).join() : toWord(value)
}

function toWord(value: unknown): string {
  const isPlain = typeof value === 'number' || typeof value === 'boolean'
  return typeof value === 'string' || isPlain ? String(value) : ''
}

const MOMENT =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(?:[.,](\d{1,9}))?)?(?:Z| ?([+-]\d\d):?(\d\d))?$/i

/** Units of UTF-16; no moment is longer. */
const MAX_LENGTH = 40

const OF_US = /^(\d\d?)\/(\d\d?)\/(\d{4}) (1[012]|[1-9])(:\d\d:\d\d)[ \u202f]([AP])M/
const ONE_DIGIT = /(?<![\d.,])\d(?!\d)/g

const YEAR_10000 = 253_402_300_800_000

/** The moment that a text names: the first and the last millisecond that it can mean. */
export interface Moment {
  readonly first: number
  readonly last: number
}

/** The first millisecond that a text can mean: see {@link parseMoment}. */
export function parseTime(text: string): number | undefined {
  return parseMoment(text)?.first
}

/**
 * The moment that a text names; what is finer than milliseconds is cut off. Without a zone it is
 * UTC, which is what clients mean that leave it out.
 *
 * @returns `undefined` when it names none, or one before 1970: platforms write the year 1 for
 *   "never".
 */
export function parseMoment(text: string): Moment | undefined {
  const [, date = '', clock = '', seconds = '', fraction = '', hours = '+00', minutes = '00'] =
    MOMENT.exec(toIso(text.slice(0, MAX_LENGTH))) ?? []
  const time = `${clock || '00:00'}${seconds || ':00'}.${`${fraction}000`.slice(0, 3)}`
  const at = Date.parse(`${date}T${time}${hours}:${minutes}`)
  if (!(isDay(date) && at >= 0 && at < YEAR_10000)) return undefined
  const unit = seconds === '' ? 60_000 : 10 ** Math.max(0, 3 - fraction.length)
  return { first: at, last: at + (clock === '' ? 86_400_000 : unit) - 1 }
}

/** Programs of .NET spell the times of a query as people do: in the US, the month comes first. */
function toIso(text: string): string {
  return text
    .replace(OF_US, (_, month, day, year, hour, rest, half) => {
      return `${year}-${month}-${day} ${(hour % 12) + (half === 'P' ? 12 : 0)}${rest}`
    })
    .replace(ONE_DIGIT, '0$&')
    .replaceAll('/', '-')
}

/** `YYYY-MM-DDTHH:mm:ss.sssZ` of Unix milliseconds. */
export function formatTime(at: number): string {
  return new Date(at).toISOString()
}

/** `Date.parse` takes the 30th of February for a day in March. */
function isDay(date: string): boolean {
  const at = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(at) && formatTime(at).startsWith(date)
}
