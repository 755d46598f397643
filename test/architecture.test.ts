import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const SRC = fileURLToPath(new URL('../src/', import.meta.url))

interface Room {
  /** Other rooms it may import from. */
  readonly imports: readonly string[]
  /** Packages it may use. */
  readonly packages?: readonly string[]
  /** Files of rooms that it may not import as a whole. */
  readonly files?: readonly string[]
  /** Runs outside Node as well: no `node:` at all. */
  readonly neutral?: true
}

/** Neutral files of `lib`, which import each other only. */
const NEUTRAL_FILES: readonly string[] = [
  'lib/back-off.ts',
  'lib/clock.ts',
  'lib/coalesced.ts',
  'lib/count-of.ts',
  'lib/format-bytes.ts',
  'lib/format-client.ts',
  'lib/growing-buffer.ts',
]

const DAEMON_PARTS = [
  'core',
  'ports',
  'link',
  'lib',
  'http',
  'gateway',
  'hashing',
  'inbound',
  'storage',
  'devices',
  'station',
  'tls',
  'desktop',
  'peers',
  'client',
  'fetch',
  'control',
]

/** The import table of ARCHITECTURE.md. */
const ROOMS: Readonly<Record<string, Room>> = {
  core: { imports: [], neutral: true },
  ports: { imports: ['core'] },
  link: { imports: [], neutral: true },
  lib: { imports: [] },
  // Whoever runs from the sources has pages made on request.
  http: { imports: ['lib'], files: ['web/make-page.js'] },
  gateway: { imports: ['core', 'ports', 'http', 'lib'] },
  hashing: { imports: ['core', 'lib'], packages: ['hash-wasm'] },
  inbound: { imports: ['core', 'ports', 'hashing', 'lib'] },
  storage: { imports: ['core', 'ports', 'hashing', 'lib'], packages: ['hash-wasm', 'yazl'] },
  devices: { imports: ['core', 'ports', 'lib'], packages: ['hash-wasm'] },
  station: {
    imports: ['core', 'ports', 'lib', 'gateway', 'hashing', 'inbound', 'storage', 'devices'],
  },
  tls: { imports: ['core', 'ports', 'lib'] },
  peers: {
    imports: ['core', 'ports', 'hashing', 'lib', 'link', 'client', 'fetch'],
    packages: ['@nats-io/transport-node'],
  },
  desktop: {
    imports: ['core', 'ports', 'hashing', 'lib'],
    packages: ['x11', '@jsquash/jpeg', '@jsquash/webp'],
  },
  client: { imports: ['core', 'link'], files: NEUTRAL_FILES, neutral: true },
  fetch: { imports: ['core', 'lib', 'client'] },
  control: {
    imports: ['core', 'ports', 'http', 'lib', 'link', 'client', 'fetch'],
    packages: ['qr'],
  },
  web: { imports: ['lib'], packages: ['esbuild'] },
  'web/shared': {
    imports: ['core', 'client'],
    packages: ['qr'],
    files: NEUTRAL_FILES,
    neutral: true,
  },
  'web/panel': {
    imports: ['web/shared', 'client', 'core', 'ports', 'control'],
    files: NEUTRAL_FILES,
    neutral: true,
  },
  'web/phone': { imports: ['web/shared', 'client', 'link'], neutral: true },
  daemon: { imports: DAEMON_PARTS },
  doctor: { imports: ['daemon', ...DAEMON_PARTS] },
  cli: {
    imports: ['doctor', 'daemon', 'station', 'client', 'link', 'ports', 'core', 'lib'],
    packages: ['qr'],
  },
}

/** Parts of a room that are rooms of their own, and run in browsers. */
const PAGES: readonly string[] = ['web/shared', 'web/panel', 'web/phone']

/** Small rooms inside of one: what each may import of it, besides its own. */
const INNER_ROOMS: Readonly<Record<string, readonly string[]>> = {
  'storage/home': [],
  'storage/blobs': ['storage/home'],
  'storage/uploads': ['storage/blobs', 'storage/home'],
}

/** Rooms of which nothing is behind `clipgate/gateway`, also not by way of other rooms. */
const NOT_EMBEDDED: readonly string[] = ['control', 'desktop', 'peers', 'daemon', 'doctor', 'cli']

const MAX_LINES = 400

// Also finds `createRequire(import.meta.url)('x')`, spelled `require('x')` in this project, and what
// the build has put beside it; passes over `ObjC.import('x')`: macOS has frameworks, no packages.
const PACKAGE =
  /^(?!\s*(?:\*|\/\/)).*(?:\bfrom |\bimport |\b(?:require|packageFile)\(|(?<!ObjC\.)\bimport\()['"]([^.'"][^'"]*)['"]/gm

/**
 * A path of ours in quotes, wherever it stands: in JavaScript, comments import types; and whoever
 * starts a worker or a helper depends on it.
 */
const OWN_FILE = /['"](\.{1,2}\/[^'"\n]+\.[jt]s)['"]/g

/**
 * `/x+$/`: takes the square of the length of a run that something else follows, and such runs come
 * from phones. `lib/without-trailing.ts` does not.
 */
const TRAILING_RUN = /[(=,:] *\/(?:\\.|\[[^\]\n]+\]|[^\\/[\n])[+*]\$\/[a-z]*/g

/** Names of at most 255 bytes. */
const SHORT_TEXTS: readonly string[] = ['lib/safe-file-name.ts']

/** Who sets timers: the clock, which caps their delays, that of clients, and pages in browsers. */
const TIMERS: readonly string[] = ['lib/clock.ts', ...PAGES]

const GLOBAL_TIMER = /(?<![.\w])set(?:Timeout|Interval)\(/

interface SourceFile {
  readonly path: string
  readonly room: string
  readonly lines: number
  /** Whether it sets a timer by itself. */
  readonly setsTimer: boolean
  /** Regular expressions that look for a run at the end of a text. */
  readonly trailingRuns: readonly string[]
  /** Files of ours, relative to `src/`. */
  readonly imports: readonly string[]
  /** Names of packages, without the path inside them. */
  readonly packages: readonly string[]
}

const paths = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (path) => /\.(ts|js)$/.test(path) && !path.endsWith('.d.ts'),
)

const files = paths.map(readSource)

function readSource(path: string): SourceFile {
  const text = readFileSync(join(SRC, path), 'utf8')
  return {
    path,
    room: roomOf(path),
    lines: text.split('\n').length,
    setsTimer: GLOBAL_TIMER.test(text),
    trailingRuns: text.match(TRAILING_RUN) ?? [],
    imports: [...text.matchAll(OWN_FILE)]
      .map(([, file = '']) => relative(SRC, resolve(SRC, dirname(path), file)))
      .filter((file) => paths.includes(file)),
    packages: [...text.matchAll(PACKAGE)].map(
      ([, name = '']) => /^(?:node:.*|@[^/]+\/[^/]+|[^/]+)/.exec(name)?.[0] ?? name,
    ),
  }
}

/** The folder; files of `src/` itself are public entries, which may import anything. */
function roomOf(path: string): string {
  const page = PAGES.find((folder) => path.startsWith(join(folder, sep)))
  if (page !== undefined) return page
  return path.includes(sep) ? (path.split(sep)[0] ?? '') : ''
}

function isNeutral(path: string, room: string): boolean {
  return ROOMS[room]?.neutral === true || NEUTRAL_FILES.includes(path)
}

const acyclic = new Set<string>()

function findCycle(path: string, trail: readonly string[] = []): readonly string[] | undefined {
  if (trail.includes(path)) return [...trail, path]
  if (acyclic.has(path)) return undefined
  const file = files.find((candidate) => candidate.path === path)
  for (const next of file?.imports ?? []) {
    const cycle = findCycle(next, [...trail, path])
    if (cycle !== undefined) return cycle
  }
  acyclic.add(path)
  return undefined
}

/** All that a file leads to, itself included. */
function closureOf(path: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(path)) return found
  found.add(path)
  for (const next of files.find((file) => file.path === path)?.imports ?? []) {
    closureOf(next, found)
  }
  return found
}

describe('src/', () => {
  it('has only rooms that the table knows', () => {
    const unknown = files.filter(({ room }) => room !== '' && !(room in ROOMS))
    assert.deepEqual(
      unknown.map(({ path }) => path),
      [],
    )
  })

  it('imports downwards only', () => {
    const illegal = files.flatMap(({ path, room, imports }) =>
      imports
        .filter(
          (target) =>
            room !== '' &&
            ![room, ...(ROOMS[room]?.imports ?? [])].includes(roomOf(target)) &&
            !ROOMS[room]?.files?.includes(target),
        )
        .map((target) => `${path} -> ${target}`),
    )
    assert.deepEqual(illegal, [])
  })

  it('imports downwards only between the small rooms inside of one', () => {
    const illegal = files.flatMap(({ path, room, imports }) => {
      const inner = INNER_ROOMS[dirname(path)]
      return imports
        .filter((target) => inner !== undefined && roomOf(target) === room)
        .filter((target) => ![dirname(path), ...(inner ?? [])].includes(dirname(target)))
        .map((target) => `${path} -> ${target}`)
    })
    assert.deepEqual(illegal, [])
  })

  it('has no import cycles, not even of types', () => {
    for (const { path } of files) assert.equal(findCycle(path), undefined)
  })

  it('has nothing of a daemon behind what is embedded in other servers', () => {
    const behind = [...closureOf('gateway.ts')]
    assert.ok(behind.includes(join('station', 'open-station.ts')))
    assert.deepEqual(
      behind.filter((path) => NOT_EMBEDDED.includes(roomOf(path))),
      [],
    )
  })

  it('uses packages only where the table says so', () => {
    const illegal = files.flatMap(({ path, room, packages }) =>
      packages
        .filter((name) => !name.startsWith('node:') || isNeutral(path, room))
        .filter((name) => !(ROOMS[room]?.packages ?? []).includes(name))
        .map((name) => `${path} -> ${name}`),
    )
    const leaving = files
      .filter(({ path }) => NEUTRAL_FILES.includes(path))
      .flatMap(({ imports }) => imports.filter((target) => !NEUTRAL_FILES.includes(target)))
    assert.deepEqual([...illegal, ...leaving], [])
  })

  it(`has no file past ${MAX_LINES} lines`, () => {
    const long = files.filter(({ lines }) => lines > MAX_LINES)
    assert.deepEqual(
      long.map(({ path, lines }) => `${path}: ${lines}`),
      [],
    )
  })

  it('looks for no run of characters at the end of a text with a regular expression', () => {
    const quadratic = files.filter(
      ({ path, trailingRuns }) => trailingRuns.length > 0 && !SHORT_TEXTS.includes(path),
    )
    assert.deepEqual(
      quadratic.map(({ path, trailingRuns }) => `${path}: ${trailingRuns.join()}`),
      [],
    )
  })

  it('sets timers through clocks only, which cap their delays', () => {
    const own = files.filter(({ path, room, setsTimer }) => {
      return setsTimer && !TIMERS.includes(path) && !TIMERS.includes(room)
    })
    assert.deepEqual(
      own.map(({ path }) => path),
      [],
    )
  })

  it('keeps ARCHITECTURE.md and this table the same', () => {
    const page = readFileSync(new URL('../ARCHITECTURE.md', import.meta.url), 'utf8')
    const missing = Object.keys(ROOMS).filter((room) => !page.includes(`\`src/${room}\``))
    assert.deepEqual(missing, [])
  })

  it('is as large as ARCHITECTURE.md says, to a quarter', () => {
    const page = readFileSync(new URL('../ARCHITECTURE.md', import.meta.url), 'utf8')
    const rows = [...page.matchAll(/^\| `src\/([^`]+)` \| ([\d,]+) \|/gm)]
    assert.equal(rows.length, Object.keys(ROOMS).length + 1)
    const wrong = rows.flatMap(([, room = '', said = '']) => {
      const own = files.filter((file) => file.room === (room === '*.ts' ? '' : room))
      const lines = own.reduce((sum, file) => sum + file.lines, 0)
      const isNear = Math.abs(Number(said.replace(',', '')) - lines) <= Math.max(200, lines / 4)
      return isNear ? [] : [`${room}: ${lines} lines`]
    })
    assert.deepEqual(wrong, [])
  })
})
