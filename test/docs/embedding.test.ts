import assert from 'node:assert/strict'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { Readable } from 'node:stream'
import { after, before, describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { formatConnectLink } from '../../src/link/connect-link.ts'
import { CREDENTIALS, startEventServer } from '../support/event-server.ts'
import { openEvents } from '../support/event-reader.ts'
import { HubClient } from '../support/hub-client.ts'
import { makeGroup, needsGroup } from '../support/memory-group.ts'
import { createPhone } from '../support/phone.ts'
import { execute } from '../support/execute.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { installPackage, type Host } from './support/packed.ts'
import { without } from '../support/requirements.ts'

/** Each block of TypeScript on the page, by the name of a file for it. */
const EXAMPLES: Readonly<Record<string, string>> = await readExamples()

async function readExamples(): Promise<Record<string, string>> {
  const blocks = await readBlocks('ts')
  return Object.fromEntries(blocks.map((code, index) => [`example-${index}.ts`, code]))
}

async function readBlocks(language: string): Promise<readonly string[]> {
  const page = await readFile(new URL('../../docs/embedding.md', import.meta.url), 'utf8')
  const blocks = page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]+?)^\`\`\``, 'gm'))
  return [...blocks].map(([, code = '']) => code)
}

/** The example that has these words, in JavaScript. */
async function scriptOf(words: string): Promise<string> {
  const code = (await readBlocks('js')).find((code) => code.includes(words))
  return code ?? assert.fail(`no example has ${words}`)
}

/** What `make hosts` gets. */
const HOSTS = fileURLToPath(
  new URL('../../node_modules/.cache/hosts/node_modules', import.meta.url),
)

const BUN = `@oven/bun-${process.platform}-${process.arch.replace('arm64', 'aarch64')}/bin/bun`

/** As much of Electron as its example uses; it ends as the program is told to. */
const ELECTRON = `
  const app = new (require('node:events'))()
  app.whenReady = async () => {}
  app.getPath = () => process.argv[2]
  app.getVersion = () => '1.0.0'
  app.exit = () => process.exit()
  process.once('SIGTERM', () => app.emit('before-quit', { preventDefault() {} }))
  exports.app = app`

/** Two gateways; says which workers were started, and what is left when both are closed. */
const TWICE = `
  const workers = process.getBuiltinModule('node:worker_threads')
  const started = []
  workers.Worker = class extends workers.Worker {
    constructor(entry, options) {
      super(entry, options)
      started.push(String(entry).replace(/.*\\//, ''))
    }
  }
  const { createServer } = await import('node:http')
  const { createGateway, openStation } = await import('clipgate/gateway')
  async function open(dataDir) {
    const station = await openStation({ dataDir })
    const gateway = createGateway(station, { version: '1' })
    const server = createServer(gateway)
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { device, password } = await station.devices.add({ kind: 'phone', label: 'A' })
    return { station, server, port: server.address().port, login: device.username + ':' + password }
  }
  async function use({ port, login }) {
    const headers = { authorization: 'Basic ' + btoa(login), connection: 'close' }
    const url = 'http://127.0.0.1:' + port + '/file/a.bin'
    return (await fetch(url, { method: 'PUT', headers, body: new Uint8Array(3e6) })).status
  }
  const two = await Promise.all([open(process.argv[2] + '/a'), open(process.argv[2] + '/b')])
  const statuses = await Promise.all(two.map(use))
  await two[0].station.close()
  statuses.push(await use(two[1]))
  await two[1].station.close()
  for (const { server } of two) await new Promise((resolve) => server.close(resolve))
  const left = () => process.getActiveResourcesInfo().filter((name) => !/Pipe|TTY/.test(name))
  // What has just ended is counted for some turns.
  for (let turn = 0; turn < 100 && left().length > 0; turn += 1) await new Promise(setImmediate)
  console.log(JSON.stringify({ started: started.sort(), statuses, left: left() }))`

/** What programs may say that are not on the page. */
const PROGRAMS = {
  'fetch.ts': `
    import { connect, type Credentials, type Fetch } from 'clipgate/client'
    const server: Credentials = { url: 'http://h', username: 'phone_1', password: 'p' }
    const own: Fetch = async (url, init) => fetch(url, init)
    connect(server, { fetch: globalThis.fetch })
    connect(server, { fetch: (url, init) => fetch(url, init) })
    connect(server, { fetch: own })
    // @ts-expect-error A phone gives no stamps.
    connect(server).apply({})`,
  'ports.ts': `
    import { createGateway, type DeviceRegistry, type GatewayPorts } from 'clipgate/gateway'
    import type { Clock, HashedBlob, InboundItem, Logger, StagingArea } from 'clipgate/gateway'
    export const mount = (ports: GatewayPorts, devices: DeviceRegistry) =>
      createGateway({ ...ports, devices }, { version: '1' })
    export type Own = [Clock, HashedBlob, InboundItem, Logger, StagingArea]`,
}

const ESBUILD = fileURLToPath(new URL('../../node_modules/.bin/esbuild', import.meta.url))

let host: Host

before(async () => {
  host = await installPackage()
})

after(() => host.remove())

interface Running {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  readonly lines: Interface
  readonly errors: Interface
}

/** The compiled example that has these words. */
function exampleWith(words: string): string {
  const [name = ''] = Object.entries(EXAMPLES).find(([, code]) => code.includes(words)) ?? []
  return join(host.folder, name.replace(/ts$/, 'js'))
}

interface StartOptions {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** What runs it, Node unless given. */
  readonly runtime?: readonly [string, ...string[]]
}

/** Runs a program. */
function start(
  t: TestContext,
  program: string,
  { args = [], env = {}, runtime: [command, ...before] = [process.execPath] }: StartOptions = {},
): Running {
  const child = spawn(command, [...before, program, ...args], {
    cwd: dirname(program),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  const [lines, errors] = [child.stdout, child.stderr].map((input) => createInterface({ input }))
  assert.ok(lines !== undefined && errors !== undefined, 'both are piped')
  return { child, lines, errors }
}

/** Starts a server, and uses it as a phone would. */
async function serve(t: TestContext, program: string, options: StartOptions = {}) {
  const folder = await temporaryFolder(t)
  const server = start(t, program, { args: [folder], ...options })
  const said: string[] = []
  server.errors.on('line', (line: string) => said.push(line))
  const [line] = await Promise.race([once(server.lines, 'line'), once(server.child, 'exit')])
  assert.match(String(line), /^\{/, said.join('\n'))
  const { address, user, password } = JSON.parse(String(line))
  const url = `http://127.0.0.1:${address.port}`
  const phone = createPhone({ username: user, password }, url)
  await phone.pushText('hello')
  assert.equal((await phone.document())['text'], 'hello', said.join('\n'))
  // Large enough for the worker that hashes.
  const bytes = randomBytes(3_000_000)
  await phone.pushFile('File', 'a.bin', bytes)
  assert.ok((await phone.download()).equals(bytes))
  assert.match(await (await phone.fetch('/phone')).text(), /<html/)
  return { server, phone, url, port: Number(address.port) }
}

/** Options for a test that needs one of the programs that `make hosts` gets. */
function needsHost(path: string): { readonly skip: string | false } {
  if (existsSync(join(HOSTS, path))) return { skip: false }
  return without('other programs: make hosts')
}

async function ends({ child }: Running): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])
}

describe('the package, installed in a folder of its own', () => {
  it('compiles every example of docs/embedding.md, and a client with the fetch of the platform', async () => {
    const programs = { ...EXAMPLES, ...PROGRAMS }
    await host.compile(programs, '--types', 'node', '--lib', 'es2023')
    await host.compile(programs, '--types', 'node', '--lib', 'es2023', '--skipLibCheck')
  })

  it('compiles a client for a browser, without the types of Node', async () => {
    const { 'fetch.ts': client } = PROGRAMS
    await host.compile({ 'browser.ts': client }, '--types', '', '--lib', 'es2023,dom', '--noEmit')
  })

  for (const [what, name, most] of [
    ['the gateway', '*', 226_000],
    ['it over ports of its own', '{ createGateway }', 116_000],
  ] as const) {
    it(`brings at most ${most / 1000} kB to a program that embeds ${what}`, async () => {
      const { outputFiles } = await build({
        stdin: { contents: `export ${name} from 'clipgate/gateway'`, resolveDir: host.folder },
        ...{ bundle: true, minify: true, format: 'esm', platform: 'node', write: false },
      })
      const size = outputFiles[0]?.contents.length ?? 0
      assert.ok(size > most / 2 && size <= most, `${size} bytes`)
    })
  }

  it('runs the server of docs/embedding.md as it stands there, and it serves a phone', async (t) => {
    const { server, phone, url, port } = await serve(t, exampleWith('createGateway('))
    // Streams that are open do not keep the server.
    const events = await openEvents(t, url, phone.authorization)
    await events.next()
    const { authorization } = phone
    const hub = await HubClient.open(t, { port, authorization })
    await phone.pushText('hello again')
    assert.equal((await hub.hear()).length, 2)
    await ends(server)
  })

  it('runs the program of docs/embedding.md that follows a clipboard, and ends when told to', async (t) => {
    const server = await startEventServer(t)
    server.activate('first')
    const LINK = formatConnectLink({ url: server.url, ...CREDENTIALS })
    const program = start(t, exampleWith('.watch('), { env: { LINK } })
    const [first, state, stream] = await Promise.all([
      once(program.lines, 'line'),
      once(program.errors, 'line'),
      server.streams.next().then((scripted) => scripted.hello()),
    ])
    assert.deepEqual(JSON.parse(String(first[0])), { type: 'Text', text: 'first', size: 5 })
    assert.match(String(state[0]), /^connected/)
    server.activate('second')
    stream.event('update')
    assert.match(String((await once(program.lines, 'line'))[0]), /"second"/)
    await ends(program)
  })

  it('is bundled into a program as docs/embedding.md says, and runs where nothing else is', async (t) => {
    const folder = await temporaryFolder(t)
    const program = join(folder, 'out/server.mjs')
    await bundle(exampleWith('createGateway('), program)
    await ends((await serve(t, program)).server)
  })

  it('is found by a bundle that has its files in the package', async (t) => {
    const program = join(host.folder, 'out/alone.cjs')
    await writeFile(join(host.folder, 'main.cjs'), await scriptOf("require('electron')"))
    await bundle(join(host.folder, 'main.cjs'), program)
    await rm(join(host.folder, 'out/clipgate-files'), { recursive: true })
    await ends((await serve(t, program, { env: await withElectron(t) })).server)
  })

  it('is required from CommonJS, as in the main process of Electron, also in a bundle', async (t) => {
    const env = await withElectron(t)
    const main = join(host.folder, 'main.cjs')
    await writeFile(main, await scriptOf("require('electron')"))
    await ends((await serve(t, main, { env })).server)
    const program = join(await temporaryFolder(t), 'out/main.cjs')
    await bundle(main, program)
    await ends((await serve(t, program, { env })).server)
  })

  it('runs twice in a program, with one worker of each kind, and leaves nothing when closed', async (t) => {
    const program = join(host.folder, 'twice.mjs')
    await writeFile(program, TWICE)
    const { stdout } = await execute(process.execPath, [program, await temporaryFolder(t)])
    assert.deepEqual(JSON.parse(stdout), {
      started: ['argon2-worker.js', 'blake3-worker.js'],
      statuses: [200, 200, 200],
      left: [],
    })
  })

  it('runs beside Fastify, as docs/embedding.md says', needsHost('fastify'), async (t) => {
    const program = join(host.folder, 'fastify.mjs')
    await writeFile(program, await scriptOf("'fastify'"))
    await symlink(join(HOSTS, 'fastify'), join(host.folder, 'node_modules/fastify'))
    const { server, url } = await serve(t, program)
    assert.deepEqual(await (await fetch(`${url}/app/hello`)).json(), { hello: 'world' })
    await ends(server)
  })

  it('runs the server of docs/embedding.md in Bun', needsHost(BUN), async (t) => {
    const runtime = [join(HOSTS, BUN)] as const
    await ends((await serve(t, exampleWith('createGateway('), { runtime })).server)
  })

  it('runs the server of docs/embedding.md in 96 MiB', needsGroup, async (t) => {
    const { group, inside } = makeGroup(96)
    const runtime = [...inside, process.execPath] as const
    await ends((await serve(t, exampleWith('createGateway('), { runtime })).server)
    assert.equal(group.read().killed, 0)
    group.remove()
  })
})

/** Runs the commands of the page for these names. */
async function bundle(from: string, to: string): Promise<void> {
  const [commands = ''] = await readBlocks('sh')
  const format = to.endsWith('.cjs') ? 'cjs' : 'esm'
  const script = commands
    .replace('esbuild server.mjs', `"$1" "$2" --external:electron --log-level=warning`)
    .replace('--format=esm', `--format=${format}`)
    .replace('out/server.mjs', '"$3"')
    .replace('node_modules/clipgate/', '"$4"/node_modules/clipgate/')
    .replace(/out\/$/m, '"$5"')
  const args = ['-e', '-c', script, 'sh', ESBUILD, from, to, host.folder, dirname(to)]
  const { stderr } = await execute('sh', args, { cwd: host.folder })
  assert.equal(stderr, '')
}

/** @returns The environment in which `electron` is found. */
async function withElectron(t: TestContext): Promise<Readonly<Record<string, string>>> {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'electron'))
  await writeFile(join(folder, 'electron/index.js'), ELECTRON)
  return { NODE_PATH: folder }
}
