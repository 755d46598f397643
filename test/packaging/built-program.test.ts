import { randomBytes } from 'node:crypto'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { FILES } from '../../build/packages.js'
import { COMMANDS } from '../../src/cli/commands.ts'
import { SETTING_OPTIONS } from '../../src/cli/setting-options.ts'
import { MIB } from '../../src/core/limits.ts'
import { createAuthority } from '../../src/tls/authority.ts'
import { xclipCopy, xclipPaste } from '../desktop/x11/support/xclip.ts'
import { isolatedEnvironment, startDaemonProcess } from '../support/daemon-process.ts'
import { createPhone } from '../support/phone.ts'
import { makeGroup, needsGroup } from '../support/memory-group.ts'
import { needs } from '../support/requirements.ts'
import { folderForAll, temporaryFolder } from '../support/temporary-folder.ts'
import { Xvfb } from '../support/xvfb.ts'
import { makeBuild, PROJECT } from './support/make-release.ts'
import { execute } from '../support/execute.ts'

/** What a build says that lost a name, a file or a package. */
const BROKEN = /is not (?:defined|a function|a constructor)|Unexpected failure|Cannot find|ERR_\w+/

const PASSWORD = 'a password of twenty or so'

/** The settings of a desktop; with those of the other daemon, all that there are. */
const SERVE_DESKTOP = `
  --config config.json --data-dir data --listen 127.0.0.1:0 --control 127.0.0.1:0 --clipboard x11
  --allow-public --trusted-proxies 127.0.0.1 --phone-page on --phone-recent on --received-dir received
  --share-types text,image,files --max-copied-text-bytes 1MiB --max-copied-image-bytes 1MiB
  --bus nats://127.0.0.1:9 --bus-credentials bus.creds --bus-ca bus.pem --recent 5
  --heartbeat 1s --notify --notify-arrivals all --log-level debug --pair-first --tls local
  --tls-listen 127.0.0.1:0`

const SERVE_HEADLESS = `
  --headless --data-dir other --public-url http://127.0.0.1:9 --max-connections 100
  --max-connections-per-address 50 --grace 1s --max-file-bytes 20MiB --max-metadata-bytes 1MiB
  --staging-ttl 10m --staging-quota-bytes 40MiB --min-free-bytes 0 --verify-workers 1
  --verify-queue 10 --heartbeat 1s --tls-cert tls.pem --tls-key tls.pem --tls-listen 127.0.0.1:0`

interface Call {
  readonly command: string
  readonly stdin?: string
  /** 0 unless it is given. */
  readonly code?: number
  /** Ends a command that would go on, once it has printed this. */
  readonly until?: RegExp
}

/** All commands with all their options, but for `serve`; FILE.txt is in the folder. */
const BEFORE: readonly Call[] = [
  { command: 'help' },
  { command: 'help --man' },
  { command: 'help serve' },
  { command: 'pair --help' },
  { command: 'version' },
  { command: 'nonsense', code: 2 },
  { command: 'completion bash' },
  { command: 'completion zsh' },
  { command: 'completion fish' },
  { command: 'service install --json' },
  { command: 'service status' },
  { command: 'service remove' },
  { command: 'status', code: 3 },
  { command: 'group new' },
  { command: 'group leave' },
  { command: 'group new --force --json' },
]

const MEANWHILE: readonly Call[] = [
  {
    command: 'pair --kind peer --label desk --username desk_here --password-stdin --url http://a',
    stdin: PASSWORD,
  },
  {
    command: 'pair --json --qr link --label Phone --username phone_here --password-stdin',
    stdin: PASSWORD,
  },
  // Its certificate names addresses of this machine only.
  { command: 'pair --https --label Secure', code: 1 },
  { command: 'devices' },
  { command: 'devices --json' },
  { command: 'devices --names' },
  { command: 'link decode', stdin: 'LINK' },
  { command: 'link decode --json', stdin: 'LINK' },
  { command: 'rotate desk --qr page' },
  { command: 'rotate desk --json' },
  { command: 'revoke desk --json' },
  { command: 'status' },
  { command: 'status --json' },
  { command: 'log' },
  { command: 'log --json' },
  { command: 'panel' },
  { command: 'panel --print --json' },
  { command: 'panel --menu' },
  { command: 'pause 10m --json' },
  { command: 'resume --json' },
  { command: 'push', stdin: 'a text' },
  { command: 'push --data-dir data sent.bin link.txt' },
  { command: 'push --link-file link.txt --save --json sent.bin' },
  { command: 'pull --link-file link.txt --save --json --dir got' },
  { command: 'pull --output -' },
  { command: 'watch', until: /sent\.bin/ },
  { command: 'watch --json --link-file link.txt --save', until: /sent\.bin/ },
  { command: 'join --link-file link.txt --name other --json' },
  { command: `join --link-file link.txt --tls-fingerprint ${'0'.repeat(64)}`, code: 1 },
  { command: 'peers --json' },
  { command: 'peers --names' },
  { command: 'leave other --json' },
  { command: 'group import --force --json', stdin: 'KEY' },
]

/** What looks at an address waits for a sign of life. No phone reaches one on this machine only. */
const DOCTOR: readonly Call[] = [
  { command: 'doctor --try-clipboard', code: 1 },
  { command: 'doctor --json --through URL', code: 1 },
  { command: 'doctor --link-file link.txt' },
]

const AFTER: readonly Call[] = [
  { command: 'stop --json' },
  { command: 'panel --menu --config missing.json', code: 1 },
]

/**
 * Entries of the library, what other desktops need, another kind of photo, and what is used where a
 * kernel is damaged or a terminal is watched; pieces go with what imports them.
 */
const ELSEWHERE =
  /^chunk-|^package-files-|^(?:index|gateway|client|link)\.js$|^(?:macos|wayland|windows)-clipboard-\w+\.js$|^(?:macos|windows)-helper\.js$|\/webp\.js$|\/argon2\.cjs$/

const FOLDER = 'clipgate-files'

const PACKAGES: readonly string[] = Object.values(FILES).map((name) => join(FOLDER, name))

/** The top level of a file of declarations. */
const DECLARATION =
  /^(?=(?:export )?(?:declare )?(?:abstract )?(?:interface|type|const|class|function) (\w+))/m

/** A class of Node, and what constructors take of classes that are known by their types only. */
const NOT_NAMED = /^Server$|Deps$|^(?:JsonDeviceRegistry|DiskStagingArea)Options$/

const PHOTO = join(PROJECT, 'fixtures/photos/lying.jpg')

/** The words of all calls. */
const CALLS: readonly (readonly string[])[] = [
  ...[...BEFORE, ...MEANWHILE, ...DOCTOR, ...AFTER].map(({ command }) => command.split(' ')),
  ['serve', '--json', ...SERVE_DESKTOP.trim().split(/\s+/), ...SERVE_HEADLESS.trim().split(/\s+/)],
]

const SERVE = { usage: 'serve', options: { ...COMMANDS['serve']?.options, ...SETTING_OPTIONS } }

describe('the program as it is built', () => {
  let [folder, dist] = ['', '']
  before(async () => {
    folder = await folderForAll()
    dist = await makeBuild(folder)
  })

  const scripts = async () => {
    const own = (await readdir(join(dist, FOLDER))).map((name) => join(FOLDER, name))
    return [...(await readdir(dist)), ...own].filter((name) => /\.c?js$/.test(name))
  }

  it('uses no name that nothing defines', async () => {
    const ours = (await scripts()).filter((name) => !PACKAGES.includes(name))
    const files = [...ours, 'cli/main.js'].map((name) => join(dist, name))
    const tsc = join(PROJECT, 'node_modules/.bin/tsc')
    const options = '--ignoreConfig --allowJs --checkJs --noEmit --strict false --skipLibCheck'
    const place = '--module nodenext --target es2023 --types node'
    const args = [...`${options} ${place}`.split(' '), ...files]
    // It complains of much that is right at run time.
    const { stdout } = await execute(tsc, args, { cwd: folder, maxBuffer: 1e8 }).catch(
      (error) => error,
    )
    assert.match(stdout, /error TS/, 'it looked')
    const undefined_ = /^.*error TS(?:2304|2552|18004): .*$/gm
    // Those of the shells in which the helpers of other systems run, which are no modules.
    const own = (stdout.match(undefined_) ?? []).filter((line: string) => !/-helper/.test(line))
    assert.deepEqual(own, [])
  })

  it('says that its files are gone, and serves what it has', needs('Xvfb', 'xclip'), async (t) => {
    const copy = await temporaryFolder(t)
    await cp(dist, join(copy, 'dist'), { recursive: true })
    await writeFile(join(copy, 'package.json'), '{"type":"module"}')
    const { display } = await Xvfb.start(t)
    const main = join(copy, 'dist/cli/main.js')
    const daemon = await startDaemonProcess(t, { main, env: { DISPLAY: display } })
    const { stderr: log } = daemon.child
    assert.ok(log !== null)
    const { username, password } = await daemon.pair('Phone')
    const ask = async (path: string, method = 'GET', secret = password) => {
      const headers = { authorization: `Basic ${btoa(`${username}:${secret}`)}` }
      const body = method === 'GET' ? null : '{"type":"Text","text":"a text"}'
      return (await fetch(daemon.ready.gateway + path, { method, headers, body })).status
    }
    assert.deepEqual([await ask('/Sync.json', 'PUT'), await ask('/phone')], [200, 200])
    await writeFile(join(copy, 'a.txt'), 'a')

    await rm(join(copy, 'dist'), { recursive: true })
    assert.equal(await ask('/Sync.json', 'PUT'), 200)
    assert.deepEqual([await ask('/Sync.json'), await ask('/phone')], [200, 200])
    assert.equal(await ask('/phone/phone.css'), 503)
    await xclipCopy(t, display, uriList(join(copy, 'a.txt'), copy), 'text/uri-list')
    const gone = /The files of clipgate are gone or were replaced: start it again/g
    while ((daemon.stderr().match(gone) ?? []).length < 2) await once(log, 'data')
    assert.doesNotMatch(daemon.stderr(), /npm install|A request failed/)
    assert.equal(await daemon.stop(), 0)

    // Half of an installation.
    await mkdir(join(copy, 'dist/cli'), { recursive: true })
    await copyFile(join(dist, 'cli/main.js'), main)
    const { code, stderr } = await execute(process.execPath, [main, 'version']).catch(
      (error) => error,
    )
    assert.equal(code, 1)
    assert.match(stderr, /^Cannot start: a file or a package of clipgate is missing[^\n]*\n$/)
  })

  // Protocol: when a limit on the memory of the daemon has no room for one
  it('refuses logins for which a limit leaves no memory, and lives', needsGroup, async (t) => {
    for (const [limit, status] of [
      [64, 503],
      [96, 200],
      [112, 200],
    ] as const) {
      const place = await temporaryFolder(t)
      const home = { main: join(dist, 'cli/main.js'), folder: place, args: ['--headless'] }
      const first = await startDaemonProcess(t, home)
      const { username, password } = await first.pair('Phone')
      await first.stop()

      const { group, inside } = makeGroup(limit)
      const daemon = await startDaemonProcess(t, { ...home, wrapper: inside })
      const headers = { authorization: `Basic ${btoa(`${username}:${password}`)}` }
      for (let time = 0; time < 3; time += 1) {
        const answer = await fetch(`${daemon.ready.gateway}/Sync.json`, { headers })
        assert.equal(answer.status, status, daemon.stderr())
      }
      const lines = daemon.stderr().match(/Logins (?:need|are refused).*/g) ?? []
      assert.equal(lines.length, status === 200 ? 0 : 2, daemon.stderr())
      // Photos stay in memory for a while, and no login behind them may be too much.
      for (let time = 0; status === 200 && time < 4; time += 1) {
        const dataName = `${time}.jpg`
        const put = async (path: string, body: string | Uint8Array<ArrayBuffer>) => {
          const answer = await fetch(daemon.ready.gateway + path, { method: 'PUT', headers, body })
          assert.equal(answer.status, 200, daemon.stderr())
        }
        await put(`/file/${dataName}`, randomBytes(4 * MIB))
        await put('/Sync.json', JSON.stringify({ type: 'Image', hasData: true, dataName }))
        const guess = { authorization: `Basic ${btoa(`${username}:wrong password ${time}`)}` }
        const answer = await fetch(`${daemon.ready.gateway}/Sync.json`, { headers: guess })
        assert.match(String(answer.status), limit === 112 ? /401/ : /401|503/, daemon.stderr())
      }
      assert.equal(await daemon.stop(), 0)
      assert.equal(group.read().killed, 0)
      group.remove()
    }
  })

  for (const [limit, what, textOf] of [
    [128, 'texts of 8 MiB', (time: number) => `${time}`.repeat(8 * MIB)],
    // Less than what is said to suffice, which has room for slow readers and a hub beside forms.
    // In a string of V8, one character has each of the others take two bytes.
    [160, 'the longest texts', (time: number) => `${time}`.repeat(16 * MIB - 200) + '世'],
  ] as const) {
    const title = `takes ${what} in ${limit} MiB, also while nobody reads them to their end`
    it(title, needsGroup, async (t) => {
      const place = await temporaryFolder(t)
      const home = { main: join(dist, 'cli/main.js'), folder: place, args: ['--headless'] }
      const first = await startDaemonProcess(t, home)
      const { username, password } = await first.pair('Phone')
      const others = [await first.pair('1'), await first.pair('2'), await first.pair('3')]
      await first.stop()

      const { group, inside } = makeGroup(limit)
      const daemon = await startDaemonProcess(t, { ...home, wrapper: inside })
      const url = `${daemon.ready.gateway}/Sync.json`
      const login = (word: string) => ({ authorization: `Basic ${btoa(`${username}:${word}`)}` })
      assert.equal((await fetch(url, { headers: login(password) })).status, 200)
      const send = async (from: (typeof others)[number], path: string, body?: string) => {
        const headers = { authorization: `Basic ${btoa(`${from.username}:${from.password}`)}` }
        const method = body === undefined ? 'GET' : 'PUT'
        return (await fetch(daemon.ready.gateway + path, { method, headers, body: body ?? null }))
          .status
      }
      // Later there may be no room for a login.
      for (const other of others) assert.equal(await send(other, '/Sync.json'), 200)
      const readers: Socket[] = []
      const { port, hostname } = new URL(url)
      const head = `GET /Sync.json HTTP/1.1\r\nHost: a\r\nAuthorization: ${login(password).authorization}`
      for (let time = 0; time < 6; time += 1) {
        const guess = fetch(url, { headers: login(`wrong password ${time}`) })
        const body = JSON.stringify({ type: 'Text', text: textOf(time), hasData: false })
        const answer = await fetch(url, { method: 'PUT', headers: login(password), body })
        assert.equal(answer.status, 200, daemon.stderr())
        assert.match(String((await guess).status), /401|503/)
        for (let reader = 0; reader < 16; reader += 1) {
          const socket = connect(Number(port), hostname).on('error', () => undefined)
          socket.write(`${head}\r\n\r\n`)
          // The first bytes have come, and no others are taken.
          await once(socket, 'readable')
          readers.push(socket)
        }
      }
      for (const [index, other] of others.entries()) {
        assert.equal(await send(other, '/file/a.txt', textOf(index)), 200)
      }
      const inFile = JSON.stringify({ type: 'Text', hasData: true, dataName: 'a.txt' })
      const sent = await Promise.all(others.map((other) => send(other, '/Sync.json', inFile)))
      assert.deepEqual(sent, [200, 200, 200], daemon.stderr())
      assert.equal(group.read().killed, 0)
      for (const socket of readers) socket.destroy()
      assert.equal(await daemon.stop(), 0)
      group.remove()
    })
  }

  for (const limit of [160, 256]) {
    it(
      `takes forms with the longest texts in ${limit} MiB, four at once`,
      needsGroup,
      async (t) => {
        const place = await temporaryFolder(t)
        const home = { main: join(dist, 'cli/main.js'), folder: place, args: ['--headless'] }
        const first = await startDaemonProcess(t, home)
        const phones: Record<string, string>[] = []
        for (const label of ['1', '2', '3', '4']) {
          const { username, password } = await first.pair(label)
          phones.push({ authorization: `Basic ${btoa(`${username}:${password}`)}` })
        }
        await first.stop()

        const { group, inside } = makeGroup(limit)
        const daemon = await startDaemonProcess(t, { ...home, wrapper: inside })
        const statusOf = async (path: string, init: RequestInit) =>
          (await fetch(daemon.ready.gateway + path, init)).status
        // Later there may be no room for a login.
        for (const headers of phones) assert.equal(await statusOf('/Sync.json', { headers }), 200)
        const post = async (headers: Record<string, string>, index: number): Promise<number> => {
          const text = `${index}${'a'.repeat(16 * MIB - 1000)}写`
          const fields = { type: 'Text', hash: 'ab', text }
          const body = index % 2 === 0 ? new URLSearchParams(fields) : new FormData()
          if (index % 2 === 1) for (const field of Object.entries(fields)) body.append(...field)
          const status = await statusOf('/api/history', { method: 'POST', headers, body })
          // Others have a turn.
          return status === 503 ? post(headers, index) : status
        }
        const sent = await Promise.all([...phones, ...phones].map(post))
        assert.deepEqual(new Set(sent), new Set([200]), daemon.stderr())
        assert.equal(group.read().killed, 0)
        assert.equal(await daemon.stop(), 0)
        group.remove()
      },
    )
  }

  it('exports each type that its library mentions', async () => {
    const read = async (name: string) =>
      (await readFile(join(dist, `${name}.d.ts`), 'utf8')).replaceAll(/\/\*[^]*?\*\//g, '')
    for (const [entry, ...names] of [
      ['index', 'daemon-types', 'gateway-types', 'neutral-types'],
      ['gateway', 'gateway-types', 'neutral-types'],
      ['client', 'neutral-types'],
      ['link', 'neutral-types'],
    ] as const) {
      const files = await Promise.all(names.map(read))
      // Each name, followed by its declaration.
      const parts = files.flatMap((text) => text.split(DECLARATION).slice(1))
      const declared = new Map(
        parts.flatMap((name, at) =>
          at % 2 === 0 ? [[name, (parts[at + 1] ?? '').replaceAll(/'[^'\n]*'/g, '')] as const] : [],
        ),
      )
      const lists = [...(await read(entry)).matchAll(/\{([^}]*)\}/g)].map(([, list = '']) => list)
      const exported = new Set(lists.join().match(/\b(?!type\b)\w+/g))
      assert.ok(exported.size > 5)
      const mentioned = [...exported].flatMap((name) =>
        [...(declared.get(name) ?? '').matchAll(/(?<!typeof |[.\w#])[A-Z]\w+(?!\w*\??:)/g)].map(
          String,
        ),
      )
      const missing = mentioned.filter((name) => declared.has(name) && !exported.has(name))
      assert.deepEqual(
        [...new Set(missing)].filter((name) => !NOT_NAMED.test(name)),
        [],
        entry,
      )
    }
  })

  it('is run with each command, option and operand that there is', () => {
    const missing = Object.entries({ ...COMMANDS, serve: SERVE }).flatMap(([name, command]) => {
      const words = new Set(CALLS.filter(([first]) => first === name).flat())
      const operands = /[\w-]+(?:\|[\w-]+)+/.exec(command.usage)?.[0].split('|') ?? []
      const options = Object.keys(command.options).map((option) => `--${option}`)
      return [name, ...operands, ...options]
        .filter((word) => !words.has(word))
        .map((word) => `${name}: ${word}`)
    })
    assert.deepEqual(missing, [])
  })

  it(
    'runs each command with each option, and each of its files',
    needs('Xvfb', 'xclip'),
    async (t) => {
      const home = await temporaryFolder(t)
      const coverage = join(home, 'coverage')
      const { display } = await Xvfb.start(t)
      await addPrograms(join(home, 'bin'))
      await mkdir(join(home, 'got'))
      const env = {
        PATH: `${join(home, 'bin')}:${process.env['PATH']}`,
        DISPLAY: display,
        NODE_V8_COVERAGE: coverage,
      }
      const main = join(dist, 'cli/main.js')
      for (const name of ['config.json', 'bus.creds', 'bus.pem']) {
        await writeFile(join(home, name), name === 'config.json' ? '{}' : name)
      }
      const { cert, key } = createAuthority('clipgate', ['127.0.0.0/8'], Date.now())
      await writeFile(join(home, 'tls.pem'), cert + key, { mode: 0o600 })
      // Large enough for the worker that hashes.
      await writeFile(join(home, 'sent.bin'), Buffer.alloc(9 * MIB))
      let [url, link] = ['', '']

      async function call({ command, stdin = '', code = 0, until }: Call): Promise<string> {
        const words = command.replace('URL', url).split(' ')
        const child = spawn(process.execPath, [main, ...words], {
          cwd: home,
          env: isolatedEnvironment(home, env),
        })
        const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => read(stream, until))
        await new Promise((resolve) => child.once('spawn', resolve))
        child.stdin.on('error', () => undefined).end(await toInput(stdin))
        if (until !== undefined) {
          await Promise.race([stdout?.seen, once(child, 'exit')])
          child.kill('SIGTERM')
        }
        const [ended] = await once(child, 'close')
        const said = `clipgate ${command}:\n${stdout?.text()}${stderr?.text()}`
        assert.equal(ended, code, said)
        assert.doesNotMatch(said, BROKEN)
        return stdout?.text() ?? ''
      }
      const toInput = async (stdin: string): Promise<string> =>
        stdin === 'LINK'
          ? link
          : stdin === 'KEY'
            ? await readFile(join(home, 'key'), 'utf8')
            : stdin

      for (const each of BEFORE) await call(each)
      await copyFile(join(home, 'data/group.key'), join(home, 'key'))

      const start = (args: string) =>
        startDaemonProcess(t, {
          main,
          folder: home,
          cwd: home,
          env,
          args: args.trim().split(/\s+/),
        })
      const desktop = await start(SERVE_DESKTOP)
      url = desktop.ready.gateway
      const node = await start(SERVE_HEADLESS)
      const pair = `pair --json --data-dir other --label desk --kind peer --url ${node.ready.gateway}`
      link = JSON.parse(await call({ command: pair })).link
      await writeFile(join(home, 'link.txt'), link)
      for (const each of MEANWHILE) await call(each)
      // It asks for it.
      await call({ command: 'pause 1m' })
      await Promise.all(DOCTOR.map(call))
      await call({ command: 'resume' })

      // What a desktop alone does: several files, and a photo for what pastes no such thing.
      await writeFile(join(home, 'photo.jpg'), await readFile(PHOTO))
      await xclipCopy(
        t,
        display,
        uriList(join(home, 'sent.bin'), join(home, 'key')),
        'text/uri-list',
      )
      await call({ command: 'watch --json --data-dir data', until: /"Group"/ })
      // And a Group of another program.
      const phone = createPhone({ username: 'phone_here', password: PASSWORD }, url)
      await phone.pushFile('Group', 'other.zip', Buffer.from('PK'))
      await call({ command: 'push --data-dir data photo.jpg' })
      while (!(await xclipPaste(display, 'image/png'))?.includes('PNG'));

      for (const each of AFTER) await call(each)
      await call({ command: 'stop --data-dir other' })
      for (const { child, stderr } of [desktop, node]) {
        if (child.exitCode === null) await once(child, 'exit')
        assert.equal(child.exitCode, 0, stderr())
        assert.doesNotMatch(stderr(), BROKEN)
      }

      const loaded = await readLoaded(coverage)
      const left = (await scripts()).filter((name) => !loaded.has(join(dist, name)))
      // A new worker, and what is loaded when it is needed, has to be used above.
      assert.deepEqual(
        left.filter((name) => !ELSEWHERE.test(name)),
        [],
      )
      // They can be loaded, at least.
      for (const name of left.filter((name) => !name.includes('-helper'))) {
        const module: unknown = await import(pathToFileURL(join(dist, name)).href)
        assert.notDeepEqual(Object.keys(Object(module)), [], name)
      }
    },
  )
})

const uriList = (...paths: readonly string[]): string =>
  paths.map((path) => `${pathToFileURL(path)}\r\n`).join('')

/** Those that would change this machine. */
async function addPrograms(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const name of ['systemctl', 'loginctl', 'xdg-open', 'notify-send']) {
    await writeFile(join(folder, name), '#!/bin/sh\necho ActiveState=inactive\n', { mode: 0o755 })
  }
}

function read(stream: NodeJS.ReadableStream, until = /^$/) {
  let text = ''
  const seen = new Promise<void>((resolve) => {
    stream.setEncoding('utf8').on('data', (more: string) => {
      text += more
      if (until.test(text)) resolve()
    })
  })
  return { text: () => text, seen }
}

/** Paths of the modules that processes have loaded which wrote their coverage. */
async function readLoaded(folder: string): Promise<ReadonlySet<string>> {
  const loaded = new Set<string>()
  for (const name of await readdir(folder)) {
    const { result } = JSON.parse(await readFile(join(folder, name), 'utf8'))
    for (const { url } of result) if (url.startsWith('file:')) loaded.add(fileURLToPath(url))
  }
  return loaded
}
