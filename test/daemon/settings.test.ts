import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { Surroundings } from '../../src/daemon/folders.ts'
import {
  defaultConfigFile,
  loadSettings,
  SettingsError,
  toOption,
  toVariable,
} from '../../src/daemon/load-settings.ts'
import { defaultListen, SETTING_NAMES, SETTINGS, type Settings } from '../../src/daemon/settings.ts'
import { startDaemon } from '../../src/daemon/start-daemon.ts'
import fc, { forAll } from '../support/property.ts'
import { BAD, GOOD } from './setting-samples.ts'

const root = await mkdtemp(join(tmpdir(), 'clipgate-settings-'))
after(() => rm(root, { recursive: true, force: true }))

const HOME = join(root, 'home')

function linux(environment: Readonly<Record<string, string | undefined>> = {}): Surroundings {
  return { platform: 'linux', home: HOME, environment }
}

let files = 0

/** A config file with this content. */
function configFile(content: unknown): string {
  const path = join(root, `config-${files++}.json`)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

interface Given {
  readonly file?: unknown
  readonly environment?: Readonly<Record<string, string>>
  readonly options?: Readonly<Record<string, unknown>>
}

function load({ file, environment = {}, options = {} }: Given): Settings {
  const config = file === undefined ? {} : { config: configFile(file) }
  return loadSettings({
    options: { ...options, ...config },
    where: linux(environment),
    cwd: '/some/here',
  })
}

function problemsOf(given: Given): SettingsError {
  try {
    load(given)
  } catch (error) {
    if (error instanceof SettingsError) return error
    throw error
  }
  throw new assert.AssertionError({ message: 'the settings were accepted' })
}

const names = fc.constantFrom(...SETTING_NAMES)

describe('loadSettings()', () => {
  it('has the documented defaults', () => {
    assert.deepEqual(load({}), {
      dataDir: join(HOME, '.local/state/clipgate'),
      listen: undefined,
      control: { host: '127.0.0.1', port: 42_721 },
      headless: false,
      clipboard: undefined,
      bus: undefined,
      busCredentials: undefined,
      busCa: undefined,
      publicUrl: undefined,
      allowPublic: false,
      tls: 'off',
      tlsCert: undefined,
      tlsKey: undefined,
      tlsListen: undefined,
      trustedProxies: [],
      phonePage: 'on',
      phoneRecent: 'on',
      maxConnections: 4096,
      maxConnectionsPerAddress: 512,
      grace: 8000,
      maxFileBytes: 10 * 2 ** 30,
      maxMetadataBytes: 16 * 2 ** 20,
      stagingTtl: 3_600_000,
      stagingQuotaBytes: 20 * 2 ** 30,
      minFreeBytes: 256 * 2 ** 20,
      verifyWorkers: 1,
      verifyQueue: 32,
      heartbeat: 25_000,
      receivedDir: join(HOME, 'Downloads/clipgate'),
      shareTypes: ['text', 'image', 'files'],
      maxCopiedTextBytes: 16 * 2 ** 20,
      maxCopiedImageBytes: 64 * 2 ** 20,
      recent: 20,
      notify: false,
      notifyArrivals: undefined,
      logLevel: 'info',
      pairFirst: false,
    })
    assert.deepEqual(defaultListen('headless'), [{ host: '127.0.0.1', port: 42_720 }])
    assert.deepEqual(
      defaultListen('desktop').map(({ host }) => host),
      ['0.0.0.0', '::'],
    )
  })

  it('says a default as somebody would set it', () => {
    for (const name of ['control', 'grace', 'heartbeat', 'minFreeBytes', 'verifyQueue'] as const) {
      const { kind, fallback, byDefault } = SETTINGS[name]
      assert.deepEqual(kind.decode(byDefault, '/'), fallback(linux()), byDefault)
    }
    assert.deepEqual([SETTINGS.grace.byDefault, SETTINGS.minFreeBytes.byDefault], ['8s', '256MiB'])
  })

  it('derives the spellings of a name mechanically', () => {
    assert.equal(toOption('maxConnectionsPerAddress'), '--max-connections-per-address')
    assert.equal(toVariable('dataDir'), 'CLIPGATE_DATA_DIR')
  })

  it('lets an option beat the environment, and the environment beat the file', () => {
    const sources = fc.subarray(['file', 'environment', 'option'] as const)
    forAll(names, sources, fc.infiniteStream(fc.nat(1)), (name, given, picks) => {
      let expected: unknown = SETTINGS[name].fallback(linux())
      const found: { file?: object; environment?: Record<string, string>; options?: object } = {}
      for (const source of given) {
        const [json, shell, meaning] = GOOD[name][picks.next().value ?? 0] ?? []
        // In the order of `sources`, from the weakest to the strongest.
        expected = meaning
        if (source === 'file') found.file = { [name]: json }
        if (source === 'environment') found.environment = { [toVariable(name)]: String(shell) }
        if (source === 'option')
          found.options = { [name]: typeof json === 'boolean' ? json : shell }
      }
      const settings = load({ ...found, options: { ...found.options } })
      assert.deepEqual(settings[name], expected)
    })
  })

  it('names every bad setting of every source at once', () => {
    const source = fc.constantFrom('file', 'environment', 'options' as const)
    const plan = fc.uniqueArray(fc.tuple(names, source, fc.nat(9)), {
      minLength: 1,
      maxLength: 8,
      selector: ([name]) => name,
    })
    forAll(plan, (bad) => {
      const found: Record<string, object> = { file: {}, environment: {}, options: {} }
      const expected: string[] = []
      for (const [name, from, pick] of bad) {
        const values = BAD[name]
        const value = values[pick % values.length]
        // A shell passes strings, and an empty variable is none.
        if (from === 'environment' && (typeof value !== 'string' || value === '')) continue
        const variable = toVariable(name)
        found[from] = { ...found[from], [from === 'environment' ? variable : name]: value }
        const option = `${toOption(name)}:`
        expected.push({ file: `"${name}" in `, environment: variable, options: option }[from])
      }
      fc.pre(expected.length > 0)
      const error = problemsOf(found)
      assert.equal(error.problems.length, expected.length, error.message)
      for (const spelling of expected) {
        assert.ok(
          error.problems.some((problem) => problem.startsWith(`Cannot use ${spelling}`)),
          `${spelling} in ${error.message}`,
        )
      }
      assert.equal(error.isUsage, Object.keys(found['options'] ?? {}).length > 0)
      for (const problem of error.problems) assert.doesNotMatch(problem, /\n/)
    })
  })

  it('refuses each bad value, and quotes no password', () => {
    for (const name of SETTING_NAMES) {
      for (const value of BAD[name]) {
        const { problems } = problemsOf({ file: { [name]: value } })
        assert.equal(problems.length, 1, `${name}: ${JSON.stringify(value)}`)
        assert.doesNotMatch(problems[0] ?? '', /secretword/)
      }
    }
  })

  it('refuses a bad setting even where another source beats it', () => {
    const error = problemsOf({ file: { grace: 'x' }, options: { grace: '1s' } })
    assert.equal(error.problems.length, 1)
    assert.equal(error.isUsage, false)
  })

  it('refuses settings that it does not know, wherever they are', () => {
    const file = '{"dataDirectory":"/x","__proto__":{},"constructor":1,"config":"/y"}'
    const { problems } = problemsOf({
      file,
      environment: { CLIPGATE_NONSENSE: '1', CLIPGATE_: 'x' },
    })
    assert.equal(problems.length, 6)
    assert.ok(problems.every((problem) => problem.includes('is not a setting')))
  })

  it('leaves other variables, empty ones and those of the tests alone', () => {
    const environment = {
      CLIPGATE_TEST_REQUIRE: 'all',
      CLIPGATE_HEADLESS: '',
      OTHER: 'x',
      CLIPGATE_CONFIG: '',
    }
    assert.equal(load({ environment }).headless, false)
  })

  it('reads the config file that a variable names, and the default one, if there is one', () => {
    const config = configFile('\uFEFF{"logLevel":"debug"}')
    assert.equal(load({ environment: { CLIPGATE_CONFIG: config } }).logLevel, 'debug')

    const where = linux({ XDG_CONFIG_HOME: join(root, 'xdg') })
    const file = defaultConfigFile(where)
    assert.equal(file, join(root, 'xdg/clipgate/config.json'))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, '{"logLevel":"warn"}')
    assert.equal(loadSettings({ options: {}, where, cwd: '/' }).logLevel, 'warn')
  })

  it('refuses a config file that it cannot use, and still names what else is wrong', () => {
    for (const text of ['{', '[]', '"x"', 'null', '5']) {
      const error = problemsOf({ file: text, options: { grace: 'x' } })
      assert.equal(error.problems.length, 2, text)
    }
    const broken = '{\n  "headless": true,\n  "listen": [\n    "0.0.0.0:1",\n  ],\n}\n'
    assert.match(problemsOf({ file: broken }).message, /it is not valid JSON, in line 5$/)
    for (const [text, line] of [
      ['\uFEFF{\n"grace": ten\n}', 2],
      ['{\n"dataDir": "/data\n}', 2],
      ["{'grace': 1}", 1],
      ['{\n"grace": 1\n"headless": true\n}', 3],
      ['{\n}\n}\n', 3],
      ['{\n"grace": 1,\n\n', 2],
    ] as const) {
      assert.match(problemsOf({ file: text }).message, new RegExp(`in line ${line}$`), text)
    }
    assert.equal(load({ file: ' \n' }).grace, 8000)
    const missing = { config: join(root, 'none.json') }
    assert.match(problemsOf({ options: missing }).message, /none\.json": it does not exist/)
    assert.match(
      problemsOf({ options: { config: root } }).message,
      /cannot be read: it is a folder \(EISDIR\)/,
    )
  })

  it('takes paths in a config file as relative to it, and others to where it was called', () => {
    assert.equal(load({ file: { dataDir: 'd' } }).dataDir, join(root, 'd'))
    assert.equal(load({ options: { dataDir: 'd' } }).dataDir, '/some/here/d')
    assert.equal(load({ environment: { CLIPGATE_DATA_DIR: '../d' } }).dataDir, '/some/d')
  })
})

describe('startDaemon()', () => {
  it('needs no more than the settings that are not as usual', async () => {
    const anywhere = { host: '127.0.0.1', port: 0 }
    const settings = { dataDir: join(root, 'data'), headless: true, listen: [anywhere] }
    const daemon = await startDaemon({ ...settings, control: anywhere })
    assert.equal(daemon.ready.mode, 'headless')
    await daemon.stop()
  })
})
