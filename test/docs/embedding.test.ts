import assert from 'node:assert/strict'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { Readable } from 'node:stream'
import { after, before, describe, it, type TestContext } from 'node:test'
import { build } from 'esbuild'
import { formatConnectLink } from '../../src/link/connect-link.ts'
import { CREDENTIALS, startEventServer } from '../support/event-server.ts'
import { openEvents } from '../support/event-reader.ts'
import { HubClient } from '../support/hub-client.ts'
import { createPhone } from '../support/phone.ts'
import { installPackage, type Host } from './support/packed.ts'

/** Each block of TypeScript on the page, by the name of a file for it. */
const EXAMPLES: Readonly<Record<string, string>> = await readExamples()

async function readExamples(): Promise<Record<string, string>> {
  const page = await readFile(new URL('../../docs/embedding.md', import.meta.url), 'utf8')
  const blocks = [...page.matchAll(/```ts\n([\s\S]+?)```/g)].map(([, code = '']) => code)
  return Object.fromEntries(blocks.map((code, index) => [`example-${index}.ts`, code]))
}

/** What `clipgate/gateway` names. */
const ENTRY = 'node_modules/clipgate/dist/gateway.js'

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

/** Runs the example that has these words. */
function start(
  t: TestContext,
  words: string,
  { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {},
): Running {
  const [name = ''] = Object.entries(EXAMPLES).find(([, code]) => code.includes(words)) ?? []
  const program = join(host.folder, name.replace(/ts$/, 'js'))
  const child = spawn(process.execPath, [program, ...args], {
    cwd: host.folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  const [lines, errors] = [child.stdout, child.stderr].map((input) => createInterface({ input }))
  assert.ok(lines !== undefined && errors !== undefined, 'both are piped')
  return { child, lines, errors }
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

  it('brings at most 210 kB to a program that embeds the gateway', async () => {
    const { outputFiles } = await build({
      stdin: { contents: `export * from 'clipgate/gateway'`, resolveDir: host.folder },
      ...{ bundle: true, minify: true, format: 'esm', platform: 'node' },
      ...{ packages: 'external', alias: { 'clipgate/gateway': join(host.folder, ENTRY) } },
      write: false,
    })
    const size = outputFiles[0]?.contents.length ?? 0
    assert.ok(size > 100_000 && size <= 210_000, `${size} bytes`)
  })

  it('runs the server of docs/embedding.md as it stands there, and it serves a phone', async (t) => {
    const server = start(t, 'createGateway(', { args: [join(host.folder, 'data')] })
    const [line] = await once(server.lines, 'line')
    const { address, user, password } = JSON.parse(String(line))
    const url = `http://127.0.0.1:${address.port}`
    const phone = createPhone({ username: user, password }, url)
    await phone.pushText('hello')
    assert.equal((await phone.document())['text'], 'hello')
    // Streams that are open do not keep the server.
    const events = await openEvents(t, url, phone.authorization)
    await events.next()
    const { authorization } = phone
    const hub = await HubClient.open(t, { port: address.port, authorization })
    await phone.pushText('hello again')
    assert.equal((await hub.hear()).length, 2)
    await ends(server)
  })

  it('runs the program of docs/embedding.md that follows a clipboard, and ends when told to', async (t) => {
    const server = await startEventServer(t)
    server.activate('first')
    const LINK = formatConnectLink({ url: server.url, ...CREDENTIALS })
    const program = start(t, '.watch(', { env: { LINK } })
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
})
