/** Damages bytes in the ways in which parsers go wrong; text is latin1. @module */

import type { Random } from './random.ts'

type Mutation = (random: Random, text: string) => string

/** What means something somewhere. */
const TOKENS = [
  ['\r', '\n', '\r\n', '\r\n\r\n', '\n\n', '\0', '\t', ' ', ':', ';', ',', '=', '"', '\\', '%'],
  ['%00', '%ff', '%2e%2e%2f', '/', '../', '//', '?', '#', '*', '+', '-', '--', '--b--', '--b\r\n'],
  ['\x80', '\xff', '\xc0\xaf', '\xed\xa0\x80', '{', '[', '"', '\\u0000', '\\ud800'],
  ['0\r\n\r\n', 'ffffffffffffffff\r\n', '0x0\r\n', 'HTTP/1.1', 'HTTP/2.0', 'GET / HTTP/1.1\r\n'],
  ['Content-Length: 0\r\n', 'Content-Length: 99999999999999999999\r\n', 'Content-Length: 5\r\n'],
  ['Transfer-Encoding: chunked\r\n', 'Transfer-Encoding: gzip\r\n', 'Host: a\r\n'],
  ['Expect: 100-continue\r\n', 'Expect: x\r\n', 'Connection: close\r\n'],
  ['Upgrade: websocket\r\nConnection: Upgrade\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['Content-Encoding: gzip\r\n', 'Authorization: Basic\r\n', 'Range: bytes=0-,0-,0-\r\n'],
  ['X-A:\r\n b\r\n'],
].flat()

const NUMBERS = [
  ['0', '-1', '1', '2147483648', '4294967296', '9007199254740993'],
  ['1e9', '0x10', '00', ''],
].flat()

const MUTATIONS: readonly Mutation[] = [
  // A byte becomes another one.
  (random, text) =>
    replace(text, random.below(text.length), 1, String.fromCharCode(random.below(256))),
  (random, text) => {
    const at = random.below(text.length)
    return replace(text, at, 1, String.fromCharCode(text.charCodeAt(at) ^ (1 << random.below(8))))
  },
  // Something comes in, goes, or comes twice.
  (random, text) => replace(text, random.below(text.length + 1), 0, random.pick(TOKENS)),
  (random, text) => replace(text, random.below(text.length), 1 + random.below(8), ''),
  (random, text) => {
    const at = random.below(text.length)
    const piece = text.slice(at, at + 1 + random.below(40))
    return replace(text, at, 0, piece.repeat(1 + random.below(4)))
  },
  (random, text) => {
    const at = random.below(text.length)
    return replace(
      text,
      at,
      0,
      random.pick(['a', '\n', ' ', '\r\n', 'X-A: b\r\n']).repeat(random.below(2000)),
    )
  },
  (random, text) => text.slice(0, random.below(text.length)),
  (random, text) => text.slice(random.below(Math.min(text.length, 20))),
  // Lines come twice, change places, get another end or another case.
  (random, text) =>
    changeLines(text, (lines) => {
      const at = random.below(lines.length)
      return [...lines.slice(0, at), lines[at] ?? '', ...lines.slice(at)]
    }),
  (random, text) =>
    changeLines(text, (lines) => {
      const [from, to] = [random.below(lines.length), random.below(lines.length)]
      return lines.map(
        (line, at) => (at === from ? lines[to] : at === to ? lines[from] : line) ?? '',
      )
    }),
  (random, text) =>
    changeLines(text, (lines) => {
      const at = random.below(lines.length)
      return lines.map((line, index) =>
        index === at ? random.pick([line.toUpperCase(), line.toLowerCase()]) : line,
      )
    }),
  (random, text) =>
    replaceOne(
      random,
      text,
      /\r\n/g,
      random.pick(['\n', '\r', '\r\r\n', '\n\r', ' \r\n', '\r\n ']),
    ),
  // Numbers lie.
  (random, text) => replaceOne(random, text, /\d+/g, random.pick(NUMBERS)),
  (random, text) => replaceOne(random, text, /\b[0-9a-f]+\r\n/g, `${random.pick(NUMBERS)}\r\n`),
]

/** Damages `text`, mostly once. */
export function mutate(random: Random, text: string): string {
  let damaged = text
  do {
    if (damaged === '') return damaged
    damaged = random.pick(MUTATIONS)(random, damaged)
  } while (random.chance(0.3))
  return damaged
}

function replace(text: string, at: number, length: number, piece: string): string {
  return text.slice(0, at) + piece + text.slice(at + length)
}

function replaceOne(random: Random, text: string, pattern: RegExp, piece: string): string {
  const found = [...text.matchAll(pattern)]
  if (found.length === 0) return text
  const { index, 0: match } = random.pick(found)
  return replace(text, index, match.length, piece)
}

function changeLines(
  text: string,
  change: (lines: readonly string[]) => readonly string[],
): string {
  return change(text.split('\r\n')).join('\r\n')
}
