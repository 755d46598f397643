import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The rooms whose comments keep the rules below. A room that is added shows its offenders. */
const ROOMS: readonly string[] = [
  'src/cli',
  'src/client',
  'src/core',
  'src/daemon',
  'src/desktop',
  'src/devices',
  'src/doctor',
  'src/gateway',
  'src/hashing',
  'src/http',
  'src/inbound',
  'src/lib',
  'src/link',
  'src/peers',
  'src/ports',
  'src/storage',
  'test/bench',
  'test/core',
  'test/inbound',
  'test/lib',
  'test/link',
]

const MAX_COLUMNS = 100

/** How comments must not begin: without a subject, or with a clause in place of one. */
const BEGINNINGS: readonly RegExp[] = [
  /^Of /,
  // A question is a sentence.
  /^What (?![^.]*\?)/,
]

const ARCHAIC =
  /\b(?:for want of|so many bytes|well again|anew|led astray|in small letters|no business of|told of|(?:what|which|that) is none|thereof|whereupon|whilst|heretofore)\b/gi

/** Paths and names of our own files in a comment or page. `bench/results/` is made by the bench. */
const PATHS =
  /(?<![\w./-])(?:src\/[\w./-]*\w|(?:test|bench(?!\/results)|docs|deploy|fixtures)\/[\w./-]*\w\.\w+)/g
const NAMES = /(?<![\w./*-])[a-z\d]+(?:-[a-z\d]+)+\.(?:ts|js)\b/g

interface Comment {
  readonly line: number
  /** Without the marks, on one line. */
  readonly text: string
}

const files = ['src', 'test', 'bench'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => /(?<!\.d)\.(?:ts|js)$/.test(path)),
)

const fileNames = new Set([...files, ...readdirSync(ROOT)].map((path) => basename(path)))

/** The comments that stand on lines of their own; `//` lines in a row are one comment. */
function commentsIn(source: string): readonly Comment[] {
  const comments = source.matchAll(/^ *(?:\/\*[^]*?\*\/|\/\/.*(?:\n *\/\/.*)*)/gm)
  return [...comments].map(({ 0: all, index }) => ({
    line: source.slice(0, index).split('\n').length,
    text: all
      .replace(/^ *(?:\/\*\*?|\*\/|\*|\/\/) ?|\*\/$/gm, '')
      .replace(/\s+/g, ' ')
      .trim(),
  }))
}

/** Paths and names of files in `text` that do not exist. */
function missingIn(text: string): readonly string[] {
  const paths = (text.match(PATHS) ?? []).filter((path) => !existsSync(join(ROOT, path)))
  const names = (text.match(NAMES) ?? []).filter((name) => !fileNames.has(name))
  return [...paths, ...names].map((name) => `"${name}" does not exist`)
}

function archaicIn(text: string): readonly string[] {
  return (text.match(ARCHAIC) ?? []).map((word) => `says "${word}"`)
}

function faultsIn({ text }: Comment): readonly string[] {
  return [
    ...(BEGINNINGS.some((pattern) => pattern.test(text)) ? [`begins "${text.slice(0, 40)}"`] : []),
    ...archaicIn(text),
    ...missingIn(text),
  ]
}

/** Exported functions, classes and interfaces without a doc comment right above them. */
function bareExports(lines: readonly string[]): readonly string[] {
  const exported =
    /^export (?:default )?(?:abstract )?(?:async )?(?:function\*?|class|interface) (\w+)/
  return lines.flatMap((line, index) => {
    const [, name] = exported.exec(line) ?? []
    const above = lines[index - 1] ?? ''
    const isOverload = name !== undefined && above.startsWith(`export function ${name}`)
    return name === undefined || isOverload || above.endsWith('*/')
      ? []
      : [`:${index + 1}: "${name}" has no doc comment`]
  })
}

function wideComments(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line, index) =>
    /^ *(?:\/\/|\/?\*)/.test(line) && line.length > MAX_COLUMNS
      ? [`:${index + 1}: more than ${MAX_COLUMNS} columns`]
      : [],
  )
}

describe('the comments of', () => {
  for (const room of ROOMS) {
    it(`${room}: exports are explained, in plain sentences, and named files exist`, () => {
      const faults = files
        .filter((path) => path.startsWith(`${room}/`))
        .flatMap((path) => {
          const source = readFileSync(join(ROOT, path), 'utf8')
          const lines = source.split('\n')
          const inComments = commentsIn(source).flatMap((comment) =>
            faultsIn(comment).map((fault) => `:${comment.line}: ${fault}`),
          )
          const all = [...inComments, ...bareExports(lines), ...wideComments(lines)]
          return all.map((fault) => `${path}${fault}`)
        })
      assert.deepEqual(faults, [])
    })
  }
})

describe('the pages of the project', () => {
  const folders = ['.', 'docs', 'docs/guides', 'deploy']
  const pages = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md')
      .map((name) => join(folder, name)),
  )

  for (const page of pages) {
    it(`${page} names files that exist, in the words of today`, () => {
      const text = readFileSync(join(ROOT, page), 'utf8')
      assert.deepEqual([...missingIn(text), ...archaicIn(text)], [])
    })
  }
})
