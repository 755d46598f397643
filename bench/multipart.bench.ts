/**
 * How fast is a form read, beside the parser that most servers on Node use? (B6)
 *
 * One form with one large file, in chunks as sockets give them, without a socket and a disk: the
 * parser alone, and part by part as handlers read forms. The worst file shows what a client can
 * make it cost that chooses the boundary as well: a constant factor, on its own upload.
 * @module
 */

import { Busboy } from '@fastify/busboy'
import { randomFillSync } from 'node:crypto'
import { MultipartParser } from '../src/http/multipart-parser.ts'
import { readMultipart } from '../src/http/multipart.ts'
import { bench } from './support/bench.ts'
import { alternate, BODY_BYTES, contender, isQuick, timed, toRates } from './support/rounds.ts'
import { explain, judge, type Row, type Sides } from './support/row.ts'

const ROUNDS = isQuick ? 5 : 15

/** What one read of a socket gives under load. */
const CHUNK_BYTES: number = 64 * 1024

/** More than one, since no two chunks of a body are the same; few enough to stay in the cache. */
const DISTINCT_CHUNKS = 8

const BOUNDARY = '----WebKitFormBoundary7MA4YWxkTrZu0gW'

const WORST_BOUNDARY = 'a'.repeat(70)

interface Form {
  readonly boundary: string
  readonly chunks: readonly Buffer[]
}

void bench(async () => {
  const random = makeForm((chunk) => randomFillSync(chunk))
  const lineEnds = makeForm((chunk) => chunk.fill('\r\n'))
  const lookAlikes = makeForm((chunk) => chunk.fill(`\r\n--${BOUNDARY.slice(0, -1)}`))
  const worst = makeForm((chunk) => chunk.fill('a'), WORST_BOUNDARY)
  return [
    judge('B6 random', await compare(random, parseForm)),
    judge('B6 line ends', await compare(lineEnds, parseForm)),
    await show('B6 random', 'the same, part by part', random, readForm),
    await show('B6 line ends', 'the same, part by part', lineEnds, readForm),
    await show('B6 random', 'file of delimiters but for their end', lookAlikes, parseForm),
    await show('B6 random', 'worst file for the worst boundary', worst, parseForm),
  ]
})

async function show(
  budget: 'B6 random' | 'B6 line ends',
  what: string,
  form: Form,
  read: (form: Form) => Promise<number>,
): Promise<Row> {
  return explain(budget, { what, unit: 'MB/s', ...(await compare(form, read)) })
}

function makeForm(fill: (chunk: Buffer) => Buffer, boundary: string = BOUNDARY): Form {
  const chunks = Array.from({ length: DISTINCT_CHUNKS }, () => fill(Buffer.alloc(CHUNK_BYTES)))
  return { boundary, chunks }
}

async function compare(form: Form, read: (form: Form) => Promise<number>): Promise<Sides> {
  const ours = contender(() => timed(() => checkSize(read(form))))
  const theirs = contender(() => timed(() => checkSize(readWithBusboy(form))))
  await alternate([ours, theirs], { rounds: ROUNDS })
  return { measured: toRates(ours.values), baseline: toRates(theirs.values) }
}

async function checkSize(reading: Promise<number>): Promise<void> {
  const size = await reading
  if (size !== BODY_BYTES) throw new Error(`${size} bytes came out of a file of ${BODY_BYTES}`)
}

/** All chunks of a body. */
function* chunksOf({ boundary, chunks }: Form): Generator<Buffer> {
  const header = 'Content-Disposition: form-data; name="data"; filename="file.bin"'
  yield Buffer.from(`--${boundary}\r\n${header}\r\n\r\n`)
  for (let sent = 0; sent < BODY_BYTES; sent += CHUNK_BYTES) {
    yield chunks[(sent / CHUNK_BYTES) % chunks.length] ?? Buffer.alloc(0)
  }
  yield Buffer.from(`\r\n--${boundary}--\r\n`)
}

function typeOf({ boundary }: Form): string {
  return `multipart/form-data; boundary=${boundary}`
}

async function parseForm(form: Form): Promise<number> {
  const limits = { maxParts: 1, maxHeaderBytes: 1024, maxPaddingBytes: 0 }
  const parser = new MultipartParser(form.boundary, limits)
  let size = 0
  for (const chunk of chunksOf(form)) {
    parser.push(chunk)
    for (let event = parser.next(); event !== undefined; event = parser.next()) {
      if (event.kind === 'data') size += event.bytes.length
    }
  }
  return size
}

async function readForm(form: Form): Promise<number> {
  const isFile = (): boolean => true
  const limits = { isFile, maxFileBytes: BODY_BYTES, maxFieldBytes: 0, maxFieldsBytes: 0 }
  let size = 0
  for await (const { bytes } of readMultipart(toStream(form), typeOf(form), limits)) {
    for await (const chunk of bytes) size += chunk.length
  }
  return size
}

async function* toStream(form: Form): AsyncGenerator<Uint8Array> {
  for (const chunk of chunksOf(form)) yield chunk
}

function readWithBusboy(form: Form): Promise<number> {
  return new Promise((resolve, reject) => {
    const busboy = new Busboy({ headers: { 'content-type': typeOf(form) } })
    const chunks = chunksOf(form)
    let size = 0
    busboy.on('file', (_name, file) => file.on('data', (chunk: Buffer) => (size += chunk.length)))
    busboy.on('finish', () => resolve(size)).on('error', reject)
    const write = (): void => {
      // Not a loop over them, which would end them when it is left.
      for (let next = chunks.next(); next.done !== true; next = chunks.next()) {
        if (busboy.write(next.value)) continue
        busboy.once('drain', write)
        return
      }
      busboy.end()
    }
    write()
  })
}
