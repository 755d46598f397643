import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Folders whose files are not ours, and what a bench left behind. */
const FOREIGN = /^(?:(?:node_modules|dist|coverage|\.git)(?:\/|$)|bench\/results\/(?!latest))/

// What is foreign may have links out of the project, which a walk would follow.
const pages = readdirSync(ROOT, { withFileTypes: true })
  .flatMap((entry) => {
    if (FOREIGN.test(entry.name) || !entry.isDirectory()) return [entry.name]
    const below = readdirSync(join(ROOT, entry.name), { recursive: true, encoding: 'utf8' })
    return below.map((path) => join(entry.name, path))
  })
  .filter((path) => path.endsWith('.md') && !FOREIGN.test(path))
  .sort()

/** The page without its code, in which nothing is a link. */
function proseOf(path: string): string {
  const text = readFileSync(join(ROOT, path), 'utf8')
  return text.replace(/^( {0,3})(```+|~~~+).*?^\1\2 *$/gms, '').replace(/`[^`\n]+`/g, code)
}

/** Code stays in headings, where it is part of the anchor; elsewhere it holds no links. */
function code(span: string): string {
  return span.slice(1, -1).replace(/[[\]()]/g, '')
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(path: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of proseOf(path).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const anchor = text.replace(/[^\p{L}\p{N}\p{M} _-]/gu, '').replaceAll(' ', '-')
    let unique = anchor
    for (let n = 1; anchors.has(unique); n += 1) unique = `${anchor}-${n}`
    anchors.add(unique)
  }
  return anchors
}

function linksOf(path: string): readonly string[] {
  const inline = proseOf(path).matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)/g)
  const named = proseOf(path).matchAll(/^\[[^\]]+\]: *(\S+)/gm)
  const pictures = proseOf(path).matchAll(/ src(?:set)?="([^"]+)"/g)
  return [...inline, ...named, ...pictures]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z][a-z+.-]*:/i.test(target))
}

/** Says why a relative link of `page` leads nowhere; `undefined` when it leads somewhere. */
function faultOf(page: string, link: string): string | undefined {
  const [file = '', anchor] = link.split('#')
  const path = file === '' ? page : join(dirname(page), decodeURIComponent(file))
  if (path.startsWith('..')) return `${page}: ${link} leaves the repository`
  if (!existsSync(join(ROOT, path))) return `${page}: ${link} leads to no file`
  if (anchor === undefined || !path.endsWith('.md')) return undefined
  return anchorsOf(path).has(anchor) ? undefined : `${page}: ${link} leads to no heading`
}

describe('the pages of the project', () => {
  it('link to files and headings that exist', () => {
    const links = pages.flatMap((page) => linksOf(page).map((link) => ({ page, link })))
    assert.ok(links.length > 100, 'links are found')
    const faults = links.map(({ page, link }) => faultOf(page, link))
    assert.deepEqual(
      faults.filter((fault) => fault !== undefined),
      [],
    )
  })

  it('are all reached from README.md', () => {
    const reached = new Set(['README.md'])
    for (const page of reached) {
      for (const link of linksOf(page)) {
        const [file = ''] = link.split('#')
        const path = join(dirname(page), decodeURIComponent(file))
        if (pages.includes(path)) reached.add(path)
        else if (pages.includes(join(path, 'README.md'))) reached.add(join(path, 'README.md'))
      }
    }
    const isForReaders = (page: string): boolean => !page.startsWith('fixtures/')
    assert.deepEqual(
      pages.filter((page) => isForReaders(page) && !reached.has(page)),
      [],
    )
  })
})

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** Words have a letter or a digit, which the marks of tables and lists have not. */
const countWords = (paths: readonly string[]): number =>
  paths.reduce((sum, path) => sum + (read(path).match(/\S*[\p{L}\p{N}]\S*/gu) ?? []).length, 0)

/** Words of all pages but the table of the run that is kept, which is all of its figures. */
const ALL = 45_300

describe('the length of pages', () => {
  const most: readonly (readonly [words: number, ...paths: readonly string[]])[] = [
    [ALL, ''],
    [650, 'README.md'],
    [1000, 'CHANGELOG.md'],
    [400, 'docs/audit.md'],
    [3500, 'docs/performance.md', 'docs/scale.md', 'docs/reliability.md'],
    [900, 'docs/guides/install.md'],
    [7000, 'docs/guides'],
    [8780, 'docs/decisions'],
    [4000, 'docs/commands.md', 'docs/settings.md'],
    [9100, 'docs/protocol.md'],
    [2200, 'docs/SECURITY.md'],
    [3250, 'ARCHITECTURE.md', 'docs/CONTRIBUTING.md'],
    [3000, 'docs/bus.md', 'docs/embedding.md', 'docs/proxy.md'],
  ]
  for (const [words, ...paths] of most) {
    it(`${paths.join(', ') || 'all pages'}: at most ${words} words`, () => {
      const isCounted = (page: string): boolean =>
        page !== 'bench/results/latest.md' && paths.some((path) => page.startsWith(path))
      const count = countWords(pages.filter(isCounted))
      assert.ok(count <= words, `${count} words`)
    })
  }

  it('is shared by six guides', () => {
    assert.equal(pages.filter((page) => page.startsWith('docs/guides/')).length, 6)
  })
})

describe('README.md', () => {
  it('names how a clone is run and tested in its first screen', () => {
    const screen = read('README.md').split('\n').slice(0, 40).join('\n')
    for (const command of ['make run', 'make test'])
      assert.match(screen, new RegExp(`^${command}\\b`, 'm'))
  })

  it('installs on each system by the line of the guide', () => {
    const guide = read('docs/guides/install.md')
    const lines = [...read('README.md').matchAll(/^\* \*\*[^*]+\*\*: `(.+)`$/gm)]
    assert.equal(lines.length, 4)
    for (const [, line = ''] of lines) assert.ok(guide.includes(line), line)
  })

  it('begins with a picture that moves, is small, and stands still for who asks for that', () => {
    const [, still = '', moving = ''] =
      /reduce\)" srcset="([^"]+)">\n +<img src="([^"]+)"/.exec(read('README.md')) ?? []
    const isMoving = (path: string) => readFileSync(join(ROOT, path)).includes('acTL')
    assert.deepEqual([isMoving(moving), isMoving(still)], [true, false])
    assert.ok(statSync(join(ROOT, moving)).size < 400_000)
  })
})

describe('the decisions', () => {
  const FOLDER = 'docs/decisions'
  const MAX_WORDS = 285
  const decisions = readdirSync(join(ROOT, FOLDER))
    .filter((name) => /^\d{3}-.*\.md$/.test(name))
    .sort()

  const textOf = (name: string): string => read(join(FOLDER, name))
  const isSuperseded = (name: string): boolean => /^Superseded by \[/m.test(textOf(name))
  const words = (name: string): number => countWords([join(FOLDER, name)])

  it('have a number of their own, which their heading repeats, and a line in the index', () => {
    const numbers = decisions.map((name) => name.slice(0, 3))
    assert.deepEqual(numbers, [...new Set(numbers)])
    for (const name of decisions) assert.match(textOf(name), new RegExp(`^# ${name.slice(0, 3)}: `))
    const rows = [...textOf('README.md').matchAll(/^\* \[(\d{3})\]\((\S+)\): /gm)]
    assert.deepEqual(
      rows.map(([, number, name]) => [number, name]),
      decisions.map((name) => [name.slice(0, 3), name]),
    )
  })

  it('are context, choice, cost and when to revisit, or say what superseded them', () => {
    for (const name of decisions) {
      const parts = [...textOf(name).matchAll(/^## (.+)$/gm)].map(([, part]) => part)
      const expected = isSuperseded(name) ? [] : ['Context', 'Choice', 'Cost', 'Revisit']
      assert.deepEqual(
        parts.filter((part) => part !== 'Rejected'),
        expected,
        name,
      )
    }
  })

  it('are short', () => {
    const long = decisions.filter((name) => words(name) > (isSuperseded(name) ? 30 : MAX_WORDS))
    assert.deepEqual(long, [])
  })
})
