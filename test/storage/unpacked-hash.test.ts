/** What programs of the reference protocol unpack of an archive that came. */

import assert from 'node:assert/strict'
import { readFile, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import {
  MAX_GROUP_DEPTH,
  MAX_GROUP_ENTRIES,
  MAX_GROUP_NAMES_LENGTH,
  MAX_UNPACKED_BYTES,
} from '../../src/core/limits.ts'
import { MemoryTurn } from '../../src/lib/memory-turn.ts'
import { streamOf } from '../support/byte-streams.ts'
import { execute } from '../support/execute.ts'
import { zipOf } from '../support/make-zip.ts'
import { needs } from '../support/requirements.ts'
import { groupHashOf } from '../support/unzip.ts'
import { openBlobStore } from './support/open-stores.ts'

const NEVER = new AbortController().signal

/** Makes an archive of the names and texts in a JSON, of which one ends a folder. */
const MAKE = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as archive:
    for name, text in json.loads(sys.argv[2]):
        method = zipfile.ZIP_STORED if name.endswith('.stored') else zipfile.ZIP_DEFLATED
        archive.writestr(name, text * 300_000 if name.endswith('.large') else text, method)
`

async function setUp(t: TestContext) {
  const { store, folder, logger, clock } = await openBlobStore(t)
  const keep = (bytes: Uint8Array) => store.receive(streamOf(bytes), { maxBytes: Infinity })
  return {
    folder,
    logger,
    clock,
    keep,
    ask: async (bytes: Uint8Array) => store.groupHashOf(await keep(bytes), NEVER),
    look: store.groupHashOf.bind(store),
  }
}

const ZEROS = Buffer.alloc(2_000_000)
const ZERO = Buffer.from('0')

/** Names of a file each, and of a folder at the top that has those of the files in it. */
function inFolder(...names: readonly string[]): Buffer {
  return zipOf({ name: 'g/' }, ...names.map((name) => ({ name: `g/${name}` })))
}

function inFolders(depth: number): string {
  return 'a/'.repeat(depth)
}

/** Names of files which have this many characters together, with the folder in front of them. */
function namesOf(length: number): string[] {
  const [perFile, top] = [1024, 'g'.length]
  return Array.from({ length: Math.ceil((length - top) / perFile) }, (_, index) => {
    return `${index}`.padEnd(Math.min(perFile, length - top - index * perFile) - 'g/'.length, '~')
  })
}

/** By what is wrong with them. */
const UNFIT: Readonly<Record<string, Buffer>> = {
  'no archive': Buffer.from('PK\x03\x04 opaque'),
  nothing: Buffer.alloc(0),
  'cut off': zipOf({ name: 'a' }).subarray(1),
  'with a way out': zipOf({ name: '../a' }),
  'with a path from the root': zipOf({ name: '/a' }),
  'with a dot': zipOf({ name: './a' }),
  'with a folder of no name': zipOf({ name: 'a//b' }),
  'with a backslash': zipOf({ name: 'a\\b' }),
  'with a NUL': zipOf({ name: 'a\0b' }),
  'with a name twice': zipOf({ name: 'a' }, { name: 'a' }),
  'with a folder twice': zipOf({ name: 'a/' }, { name: 'a/' }),
  'with a file that is a folder': zipOf({ name: 'a/' }, { name: 'a/b' }, { name: 'a/b/c' }),
  'with a long name': zipOf({ name: 'x'.repeat(1025) }),
  'with another method': zipOf({ name: 'a', method: 12 }),
  encrypted: zipOf({ name: 'a', flags: 1 }),
  'damaged inside': zipOf({ name: 'a', method: 8, content: ZEROS }).fill('damage', 40, 100),
  'with less in it than it says': zipOf({ name: 'a', method: 8, size: 2 }),
  'with more in it than it says': zipOf({ name: 'a', method: 8, content: ZEROS, size: 1000 }),
  'with much more in it': zipOf({ name: 'a', method: 8, content: ZEROS, size: 1_000_000 }),
  'with no bytes at all where they should be': zipOf({ name: 'a', offset: 1_000_000 }),
  'with something else there': zipOf({ name: 'a', offset: 1 }),
  'with one file in many names': zipOf(
    { name: 'a', content: ZEROS },
    ...['b', 'c'].map((name) => ({ name, content: ZERO, offset: 0, size: ZEROS.length })),
  ),
  'too large when unpacked': zipOf({ name: 'a', method: 8, size: MAX_UNPACKED_BYTES + 1 }),
  'of Zip64': zipOf({ name: 'a', size: 0xffffffff }),
  'of too many': zipOf(
    ...Array.from({ length: MAX_GROUP_ENTRIES + 1 }, (_, index) => ({ name: `${index}` })),
  ),
  'of too many folders': zipOf(
    ...Array.from({ length: 300 }, (_, index) => ({ name: `${index}/` })),
    ...Array.from({ length: 300 }, (_, index) => ({ name: `${index}/${inFolders(40)}b` })),
  ),
  'of too deep folders': inFolder(`${inFolders(MAX_GROUP_DEPTH)}b`),
  'of a too deep folder': inFolder(inFolders(MAX_GROUP_DEPTH)),
  'of too long names': inFolder(...namesOf(MAX_GROUP_NAMES_LENGTH + 1)),
  'of too long names of folders that have no entry': inFolder(
    ...Array.from({ length: 200 }, (_, index) => `${'~'.repeat(800)}${index}/${inFolders(8)}b`),
  ),
  'with much behind the end of what is packed': zipOf({
    name: 'a',
    method: 8,
    content: ZEROS,
    behind: ZEROS,
  }),
}

/** Blocks of deflate that are of no bytes, of 5 bytes each. */
function emptyBlocks(count: number): Buffer {
  return Buffer.alloc(5 * count, Buffer.from([0, 0, 0, 0xff, 0xff]))
}

describe('the hash of what is unpacked of an archive that came', () => {
  it('is of its files and folders as programs paste them', needs('python3'), async (t) => {
    const { folder, ask, logger } = await setUp(t)
    const path = join(folder, 'made.zip')
    const files = {
      'b.stored': 'two',
      'a.txt': '',
      'g/': '',
      'g/é🧀': 'cheese',
      'g/deep/er/c.large': 'large',
      'g/empty/': '',
    }
    // These have no folder of their own at the top, and stay where they are unpacked.
    const others = { '__MACOSX/._a.txt': 'mac', 'loose/deep/': '', 'loose/x': 'x' }
    const entries = Object.entries({ ...files, ...others })
    await execute('python3', ['-c', MAKE, path, JSON.stringify(entries)])
    const expected = groupHashOf({
      ...files,
      'g/é🧀': Buffer.from('cheese').toString('latin1'),
      'g/deep/': '',
      'g/deep/er/': '',
      'g/deep/er/c.large': 'large'.repeat(300_000),
    })
    const bytes = await readFile(path)
    assert.equal(await ask(bytes), expected)
    const comment = Buffer.alloc(2)
    comment.writeUInt16LE(8)
    const commented = Buffer.concat([bytes.subarray(0, -2), comment, Buffer.from('a remark')])
    assert.equal(await ask(commented), expected)
    assert.deepEqual(logger.lines, [])
  })

  // Protocol: more than 1 MiB of names
  it('is of as many files, folders and names as there may be', async (t) => {
    const { ask } = await setUp(t)
    const deep = `${inFolders(MAX_GROUP_DEPTH - 1)}b`
    const names = namesOf(MAX_GROUP_NAMES_LENGTH)
    for (const files of [[deep], names]) {
      const folders = files === names ? [] : Array.from(deep.matchAll(/\//g), ({ index }) => index)
      const expected = groupHashOf({
        'g/': '',
        ...Object.fromEntries(folders.map((end) => [`g/${deep.slice(0, end)}/`, ''])),
        ...Object.fromEntries(files.map((name) => [`g/${name}`, 'x'])),
      })
      assert.equal(await ask(inFolder(...files)), expected)
    }
  })

  it('has the memory of a login for as long as it takes', async (t) => {
    const { store, clock } = await openBlobStore(t)
    const blob = await store.receive(streamOf(zipOf({ name: 'a' })), { maxBytes: Infinity })
    const said: string[] = []
    MemoryTurn.of(clock).holder = {
      isTight: true,
      giveWay: async () => void said.push('logins wait'),
      goOn: () => void said.push('logins go on'),
    }
    const looking = store.groupHashOf(blob, NEVER)
    // Nothing here waits for the worker, which has not even started.
    for (let turns = 0; turns < 20; turns++) await Promise.resolve()
    // With the time that the look may take.
    assert.equal(clock.pending, 2)
    clock.advance(9_000)
    for (let turns = 0; turns < 20; turns++) await Promise.resolve()
    assert.deepEqual(said, ['logins wait'])
    assert.notEqual(await looking, undefined)
    assert.deepEqual(said, ['logins wait', 'logins go on'])
    assert.equal(clock.pending, 0)
  })

  // Protocol: It is not known where the
  it('is not there for any other archive, which is no reason to say anything', async (t) => {
    const { ask, logger } = await setUp(t)
    assert.notEqual(await ask(zipOf({ name: 'a' }, { name: 'b', method: 8 })), undefined)
    for (const [what, bytes] of Object.entries(UNFIT)) {
      assert.equal(await ask(bytes), undefined, what)
    }
    assert.deepEqual(logger.lines, [])
  })

  it('is not there for what takes much more than it is when unpacked', async (t) => {
    const { ask } = await setUp(t)
    const content = Buffer.from('x')
    const packedIn = (blocks: number) =>
      ask(zipOf({ name: 'a', method: 8, content, before: emptyBlocks(blocks) }))
    assert.equal(await packedIn(100), groupHashOf({ a: 'x' }))
    assert.equal(await packedIn(300), undefined)
    assert.equal(await ask(zipOf({ name: 'a', content, behind: Buffer.alloc(1) })), undefined)
  })

  it('is not there when it takes too long, and small archives do not wait for it', async (t) => {
    const { keep, look, logger, clock } = await setUp(t)
    const before = emptyBlocks(20_000_000)
    const slow = zipOf({ name: 'a', method: 8, before, size: before.length })
    const ended: string[] = []
    const looks = Promise.all([
      look(await keep(slow), NEVER).then((hash) => ended.push(`slow: ${hash}`)),
      look(await keep(zipOf({ name: 'a' })), NEVER).then((hash) => {
        ended.push(`small: ${hash === groupHashOf({ a: 'x' })}`)
        clock.advance(60_000)
      }),
    ])
    await looks
    assert.deepEqual(ended, ['small: true', 'slow: undefined'])
    const [{ fields } = {}] = logger.lines
    assert.match(String(fields?.['reason']), /takes too long/)
    assert.equal(clock.pending, 0)
  })

  it('is not there when the bytes cannot be read, which the log tells', async (t) => {
    const { folder, keep, look, logger } = await setUp(t)
    const blob = await keep(zipOf({ name: 'a' }))
    for (const name of await readdir(folder)) await unlink(join(folder, name))
    assert.equal(await look(blob, NEVER), undefined)
    assert.deepEqual(
      logger.lines.map(({ level, message }) => [level, message]),
      [['warn', 'Cannot look into a Group']],
    )
  })

  it('is given up when nobody waits for it', async (t) => {
    const { keep, look, logger } = await setUp(t)
    const blob = await keep(zipOf({ name: 'a' }))
    const controller = new AbortController()
    const found = look(blob, controller.signal)
    controller.abort(new Error('nobody waits'))
    await assert.rejects(found, /nobody waits/)
    assert.deepEqual(logger.lines, [])
  })
})
