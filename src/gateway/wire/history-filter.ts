/**
 * Wire format of `POST /api/history/query`: which records a client wants to see. What does not
 * parse counts as not sent.
 * @module
 */

import { ITEM_TYPES, parseItemType, type ItemType } from '../../core/item-type.ts'
import type { Item } from '../../core/item.ts'
import type { Fields } from './field-picker.ts'
import { parseBoolean } from './history-form.ts'
import { parseTime } from './wire-time.ts'

/** The conditions of a query. */
export interface HistoryFilter {
  /** From 1 on. */
  readonly page: number
  readonly types: readonly ItemType[]
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
    types: parseTypes(field('types')) ?? ITEM_TYPES,
    starred: parseBoolean(field('starred')),
    before: parseTime(field('before')),
    after: parseTime(field('after')),
    modifiedAfter: parseTime(field('modifiedAfter')),
    searchText: field('searchText').toLowerCase(),
  }
}

/** Whether the record of an item, which is never starred, is one of those. */
export function isWanted(item: Item, filter: HistoryFilter): boolean {
  const { page, types, starred, searchText } = filter
  const { before = Infinity, after = -Infinity, modifiedAfter = -Infinity } = filter
  return (
    page < 2 &&
    starred !== true &&
    types.includes(item.type) &&
    item.activatedAt < before &&
    item.activatedAt > after &&
    item.activatedAt > modifiedAfter &&
    (searchText === '' || containsText(item, searchText))
  )
}

function containsText({ text, dataName }: Item, searchText: string): boolean {
  return text.toLowerCase().includes(searchText) || dataName.toLowerCase().includes(searchText)
}

/** A list of names, or a bit mask; `undefined` when it says nothing. */
function parseTypes(text: string): readonly ItemType[] | undefined {
  const sets = text
    .split(/[\s,|]+/)
    .map(parseTypeSet)
    .filter((set) => set !== undefined)
  return sets.length === 0 ? undefined : sets.flat()
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
