/**
 * docs/protocol.md about limits, row by row: the page has the numbers that the code uses. What they
 * do is shown by tests next to that code.
 * @module
 */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { MAX_DATA_NAME_BYTES, withAlias } from '../../../src/core/item.ts'
import { BODY_IDLE_MS } from '../../../src/http/read-body.ts'
import * as limits from '../../../src/core/limits.ts'
import { SETTINGS } from '../../../src/daemon/settings.ts'
import { MAX_LINK_LENGTH } from '../../../src/link/connect-link.ts'
import { assertLargest } from './conversation.ts'
import type { RowCheck } from './row-check.ts'
import { openStation } from './station.ts'

const ANYWHERE = { platform: 'linux', environment: {}, home: '/home/user' } as const

const UNITS: Readonly<Record<string, number>> = {
  GiB: limits.GIB,
  MiB: limits.MIB,
  KiB: limits.KIB,
  h: 3_600_000,
  s: 1000,
}

export const PROTOCOL_LIMIT_ROWS: Readonly<Record<string, RowCheck>> = {
  'uploaded file': async (t, cells) => {
    says(limits.MAX_FILE_BYTES, SETTINGS.maxFileBytes.fallback(ANYWHERE))(t, cells)
    await assertLargest(await openStation(t), limits.MAX_FILE_BYTES, 'PUT', '/file/a', 'a/b')
  },
  'document; any text in JSON, without its quotes': async (t, cells) => {
    const bytes = limits.MAX_METADATA_BYTES
    says(bytes, SETTINGS.maxMetadataBytes.fallback(ANYWHERE))(t, cells)
    await assertLargest(await openStation(t), bytes, 'PUT', '/Sync.json', 'application/json')
  },
  'text of an Image, a File or a Group': says(limits.MAX_NAME_TEXT_BYTES),
  'life of a staged upload': says(limits.STAGING_TTL_MS, SETTINGS.stagingTtl.fallback(ANYWHERE)),
  'staged names for each device': says(limits.MAX_STAGED_PER_DEVICE),
  'batches for each device; uploads of each': saysList(
    limits.MAX_BATCHES_PER_DEVICE,
    limits.MAX_BATCH_UPLOADS,
  ),
  'resumable uploads for each device': says(limits.MAX_STAGED_PER_DEVICE),
  'staged bytes': says(limits.STAGING_QUOTA_BYTES, SETTINGS.stagingQuotaBytes.fallback(ANYWHERE)),
  'disk space that uploads leave': says(
    limits.MIN_FREE_BYTES,
    SETTINGS.minFreeBytes.fallback(ANYWHERE),
  ),
  'data name': says(MAX_DATA_NAME_BYTES),
  'aliases of an item': says(countAliases()),
  'archive whose files are hashed, packed or unpacked; files and folders in it': saysList(
    limits.MAX_UNPACKED_BYTES,
    limits.MAX_GROUP_ENTRIES,
  ),
  'folders in folders of it; UTF-16 code units of all relative names': saysList(
    limits.MAX_GROUP_DEPTH,
    limits.MAX_GROUP_NAMES_LENGTH,
  ),
  'long bodies in memory: all; of one device': saysList(
    constantIn('http/held-bytes.ts', 'MAX_HELD_BYTES'),
    constantIn('http/held-bytes.ts', 'MAX_HELD_BY_ONE'),
  ),
  'uploads at once: all; of one device': says(constantIn('http/held-bytes.ts', 'MAX_STREAMED')),
  'long texts being read that are outdated': says(
    constantIn('http/held-bytes.ts', 'MAX_SHARED_BYTES'),
  ),
  'password verifications at once, waiting': saysList(
    SETTINGS.verifyWorkers.fallback(ANYWHERE),
    SETTINGS.verifyQueue.fallback(ANYWHERE),
  ),
  'wait for a verification': saysList(
    constantIn('devices/argon2-pool.ts', 'MAX_WAIT_MS'),
    constantIn('devices/argon2-pool.ts', 'MAX_KEPT_WAIT_MS'),
  ),
  'connections; from one address before login': saysList(
    SETTINGS.maxConnections.fallback(ANYWHERE),
    SETTINGS.maxConnectionsPerAddress.fallback(ANYWHERE),
  ),
  'header section': says(constantIn('http/server.ts', 'MAX_HEADER_BYTES')),
  'time for a header section': says(constantIn('http/connection-table.ts', 'HEADER_MS')),
  'idle connection': says(constantIn('http/server.ts', 'KEEP_ALIVE_MS')),
  'event streams for each device': says(limits.MAX_STREAMS_PER_DEVICE),
  'connections to the hub for each device': says(limits.MAX_HUB_CONNECTIONS_PER_DEVICE),
  'pause between the pings of an event stream': says(
    limits.HEARTBEAT_MS,
    SETTINGS.heartbeat.fallback(ANYWHERE),
  ),
  'message of a client to the hub': says(constantIn('gateway/hub-stream.ts', 'MAX_MESSAGE_BYTES')),
  'what a device sends to the hub': saysList(
    constantIn('gateway/hub-allowance.ts', 'BURST_BYTES'),
    constantIn('gateway/hub-allowance.ts', 'BYTES_PER_SECOND'),
  ),
  'silence of a client of the hub': says(constantIn('gateway/hub-stream.ts', 'SILENCE_MS')),
  "silence in a file's bytes": says(BODY_IDLE_MS),
  'download that makes no progress': says(constantIn('http/silence.ts', 'STALL_MS')),
  'connect link': says(MAX_LINK_LENGTH),
}

/** Shows that the row says one number, which is all of these. */
function says(...numbers: readonly number[]): (...row: Parameters<RowCheck>) => void {
  return (_, [, value = '']) => {
    for (const number of numbers) assert.deepEqual(parseQuantities(value), [number])
  }
}

/** Shows that the row says these numbers, in this order. */
function saysList(...numbers: readonly number[]): RowCheck {
  return (_, [, value = '']) => assert.deepEqual(parseQuantities(value), numbers)
}

/** The numbers in a text, in bytes and milliseconds where they have a unit. */
function parseQuantities(text: string): readonly number[] {
  return [...text.replace(/UTF-8/, '').matchAll(/(\d+)(?: ([A-Za-z]+))?/g)].map(
    ([, digits, unit = '']) => Number(digits) * (UNITS[unit] ?? 1),
  )
}

/** A number that nothing but its own file needs, and that is too long to wait for. */
function constantIn(file: string, name: string): number {
  const source = readFileSync(new URL(`../../../src/${file}`, import.meta.url), 'utf8')
  const pattern = new RegExp(`^(?:export )?const ${name}(?:: number)? = ([\\d_ *]+)$`, 'm')
  const value = pattern.exec(source)?.[1]
  if (value === undefined) throw new Error(`src/${file} has no number ${name}`)
  const factors = value.replaceAll('_', '').split('*')
  return factors.reduce((product, factor) => product * Number(factor), 1)
}

function countAliases(): number {
  let item = { contentHash: 'c', nameHash: 'n', aliases: [] as readonly string[] }
  for (let index = 0; index < 100; index++)
    item = { ...item, aliases: withAlias(item, `a${index}`) }
  return item.aliases.length
}

const PARSER = 'http/multipart.ts'

/** The limits of forms; `POST /api/history` shows that they hold. */
export const FORM_LIMIT_ROWS: Readonly<Record<string, RowCheck>> = {
  'one file': says(limits.MAX_FILE_BYTES),
  'all fields together; an urlencoded form': async (t, cells) => {
    const bytes = limits.MAX_METADATA_BYTES
    says(bytes)(t, cells)
    const form = 'application/x-www-form-urlencoded'
    await assertLargest(await openStation(t), bytes, 'POST', '/api/history', form)
  },
  'a multipart form': async (t, [, value = '']) => {
    const [file = 0, fields = 0] = parseQuantities(value)
    assert.deepEqual([file, fields], [limits.MAX_FILE_BYTES, limits.MAX_METADATA_BYTES])
    const form = 'multipart/form-data; boundary=x'
    await assertLargest(await openStation(t), file + fields, 'POST', '/api/history', form)
  },
  boundary: saysList(1, constantIn('http/field-values.ts', 'MAX_BOUNDARY_LENGTH')),
  parts: says(constantIn(PARSER, 'MAX_PARTS')),
  'header of a part': says(constantIn(PARSER, 'MAX_HEADER_BYTES')),
  'before the first and after the last delimiter': says(constantIn(PARSER, 'MAX_PADDING_BYTES')),
}
