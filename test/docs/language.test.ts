import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const MAX_COLUMNS = 100

/** How comments must not begin: without a subject. */
const WITHOUT_SUBJECT = /^Of /

/** In sources they do not begin with a clause in place of it either. A question is a sentence. */
const CLAUSE = /^What (?![^.]*\?)/

const ARCHAIC =
  /\b(?:for want of|of late|so many bytes|well again|anew|led astray|in small letters|no business of|told of|(?:what|which|that) is none|thereof|whereupon|whilst|heretofore)\b/gi

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

/** Each folder of sources, and each file beside them; what is added is a room like any other. */
const rooms = [...new Set(files.map((path) => path.split('/').slice(0, 2).join('/')))].sort()

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

function faultsIn({ text }: Comment, beginnings: readonly RegExp[]): readonly string[] {
  return [
    ...(beginnings.some((pattern) => pattern.test(text)) ? [`begins "${text.slice(0, 40)}"`] : []),
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

/** In messages and other texts of the program. */
function archaicLines(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line, index) => archaicIn(line).map((fault) => `:${index + 1}: ${fault}`))
}

function wideComments(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line, index) =>
    /^ *(?:\/\/|\/?\*)/.test(line) && line.length > MAX_COLUMNS
      ? [`:${index + 1}: more than ${MAX_COLUMNS} columns`]
      : [],
  )
}

describe('the comments of', () => {
  for (const room of rooms) {
    const isSource = room.startsWith('src/')
    const beginnings = isSource ? [WITHOUT_SUBJECT, CLAUSE] : [WITHOUT_SUBJECT]
    const what = isSource ? 'exports are explained, in plain sentences' : 'plain words'
    it(`${room}: ${what}, and named files exist`, () => {
      const faults = files
        .filter((path) => path === room || path.startsWith(`${room}/`))
        .flatMap((path) => {
          const source = readFileSync(join(ROOT, path), 'utf8')
          const lines = source.split('\n')
          const inComments = commentsIn(source).flatMap((comment) =>
            faultsIn(comment, beginnings).map((fault) => `:${comment.line}: ${fault}`),
          )
          const inLines = isSource
            ? [...bareExports(lines), ...archaicLines(lines), ...wideComments(lines)]
            : []
          return [...inComments, ...inLines].map((fault) => `${path}${fault}`)
        })
      assert.deepEqual(faults, [])
    })
  }
})

describe('the pages of the project', () => {
  const folders = ['.', 'docs', 'docs/guides', 'docs/decisions', 'deploy']
  const pages = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  )

  for (const page of pages) {
    it(`${page} names files that exist, in the words of today`, () => {
      const text = readFileSync(join(ROOT, page), 'utf8')
      assert.deepEqual([...missingIn(text), ...archaicIn(text)], [])
    })
  }
})
