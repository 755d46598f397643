/**
 * The rules of docs/protocol.md, and the tests that prove them.
 *
 * A comment right above a test or a group of tests names the rule: `// Protocol: FIRST WORDS`, as
 * the page has them, or `// Protocol, SECTION: FIRST WORDS` where several sections have these words.
 * Run as a program it prints the table of all.
 * @module
 */

import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

export interface Section {
  readonly name: string
  /** In one line. */
  readonly text: string
  /** The items of its lists, each in one line. */
  readonly items: readonly string[]
}

export interface Rule {
  /** The sections that have these words: one, unless the mark is wrong. */
  readonly sections: readonly string[]
  readonly words: string
  /** Below the root of the project. */
  readonly file: string
  /** What `describe` or `it` is given, as it stands there; `undefined` above anything else. */
  readonly test: string | undefined
}

/** Reads what docs/protocol.md says, by its headings. */
export function readSections(): readonly Section[] {
  const page = readFileSync(`${ROOT}docs/protocol.md`, 'utf8')
  return page
    .split(/^#+ /m)
    .slice(1)
    .map((part) => {
      const [name = '', ...lines] = part.split('\n')
      const items = lines.join('\n').matchAll(/^\* (?!\[)[^]*?(?=\n(?:\n|\* |$))/gm)
      return {
        name: name.trim(),
        text: inOneLine(lines.join('\n')),
        items: [...items].map(([item]) => inOneLine(item)),
      }
    })
}

/** Reads the marks of all tests. */
export function readRules(sections: readonly Section[]): readonly Rule[] {
  const files = readdirSync(`${ROOT}test`, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .sort()
  return files.flatMap((path) => {
    const source = readFileSync(`${ROOT}test/${path}`, 'utf8')
    return [...source.matchAll(MARK)].map(({ 0: all, 1: section, 2: words = '', index }) => ({
      sections: sections
        .filter(({ name, text }) => name === (section ?? name) && text.includes(words))
        .map(({ name }) => name),
      words,
      file: `test/${path}`,
      test: TEST.exec(source.slice(index + all.length))?.[2],
    }))
  })
}

const MARK = /^ *\/\/ Protocol(?:, ([^:\n]+))?: (.+)$/gm

/** The test that follows a mark, with nothing but comments between them. */
const TEST = /^(?:\s*\/\/.*)*\s*(?:describe|it)\(\s*(['"`])(.*?)\1,\s/

function inOneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}

function formatRules(sections: readonly Section[]): string {
  const rules = readRules(sections)
  const rows = sections.flatMap(({ name }) =>
    rules
      .filter((rule) => rule.sections[0] === name)
      .map(({ words, file, test = '' }) => [name, words, `\`${file}\``, test]),
  )
  const lines = [['section', 'rule', 'file', 'test'], ['---', '---', '---', '---'], ...rows].map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
  )
  return `${lines.join('\n')}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(formatRules(readSections()))
}
