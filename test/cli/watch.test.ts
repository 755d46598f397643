import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { runCli } from '../../src/cli/run-cli.ts'
import { displayWidth } from '../../src/cli/text-table.ts'
import { formatConnectLink } from '../../src/link/connect-link.ts'
import { CREDENTIALS, startEventServer } from '../support/event-server.ts'
import { Mailbox } from '../support/mailbox.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { openTestShell } from '../support/test-shell.ts'

const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}/

/** A stream whose lines a test can wait for. */
class Lines extends Writable {
  readonly lines: Mailbox<string> = new Mailbox()
  readonly columns?: number
  /** Fails the next write with this. */
  failure: Error | undefined
  #rest = ''

  constructor(columns?: number) {
    super()
    if (columns !== undefined) this.columns = columns
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    const lines = (this.#rest + chunk.toString()).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.lines.put(line)
    done(this.failure)
  }
}

interface OpenOptions {
  readonly args?: readonly string[]
  readonly columns?: number
  readonly environment?: Readonly<Record<string, string>>
}

/** Runs the command on a scripted server, which has an item; the link is on stdin. */
async function open(t: TestContext, { args = [], columns, environment = {} }: OpenOptions = {}) {
  const server = await startEventServer(t)
  server.activate('first')
  const link = formatConnectLink({ url: server.url, ...CREDENTIALS })
  const { shell } = openTestShell({ stdin: `${link}\n`, environment })
  const [stdout, stderr] = [new Lines(columns), new Lines()]
  const code = runCli(['watch', ...args], { ...shell, stdout, stderr })
  t.after(() => stdout.destroy())
  return {
    server,
    stdout,
    code,
    line: () => stdout.lines.next(),
    complaint: () => stderr.lines.next(),
    complaints: stderr.lines,
    hello: async () => (await server.streams.next()).hello(),
  }
}

describe('clipgate watch', () => {
  it('prints the current item, and each change, as a line for people', async (t) => {
    const { server, line, hello, stdout, code, complaints } = await open(t)
    const stream = await hello()
    const first = await line()
    assert.match(first, TIME)
    assert.equal(first.replace(TIME, ''), 'Text   5 bytes     first')
    const file = { type: 'File', hasData: true, text: 'x', size: 1536, dataName: 'a\u202e b.zip' }
    server.activateDocument(file)
    stream.event('update')
    assert.equal((await line()).replace(TIME, ''), 'File   1.5 KiB     a\\u{202e} b.zip')
    stdout.destroy()
    assert.equal(await code, 0)
    await stream.closed
    assert.equal(complaints.size, 0)
  })

  it('shows the beginning of a text as one line, and nothing that a terminal obeys', async (t) => {
    const { server, line, hello } = await open(t)
    const stream = await hello()
    await line()
    const shown: readonly (readonly [string, string])[] = [
      [' two\r\n\tlines\u2028 ', 'two lines'],
      ['\u001b[2J\u202egone', '\\u{1b}[2J\\u{202e}gone'],
      ['x'.repeat(61), `${'x'.repeat(59)}…`],
      ['漢'.repeat(1e6), `${'漢'.repeat(29)}…`],
      [`${' '.repeat(999)}😀 `, '…'],
      [' '.repeat(50_000), '…'],
    ]
    for (const [text, preview] of shown) {
      server.activate(text)
      stream.event('update')
      assert.equal((await line()).replace(TIME, '').slice(19), preview)
    }
  })

  it('keeps to the width of the terminal', async (t) => {
    const { server, line, hello } = await open(t, { columns: 70 })
    const stream = await hello()
    await line()
    for (const dataName of ['x'.repeat(200), '漢'.repeat(60)]) {
      server.activateDocument({ type: 'Image', hasData: true, dataName, size: 10 * 2 ** 30 })
      stream.event('update')
      const printed = await line()
      assert.ok(displayWidth(printed) <= 70 && printed.endsWith('…'), printed)
    }
  })

  it('prints one JSON value a line for scripts, with the whole text', async (t) => {
    const { server, line, hello } = await open(t, { args: ['--json'] })
    const text = 'a\nb\u001b\u202e'.repeat(100)
    const contentId = `blake3v1:${'0'.repeat(64)}`
    server.activate(text, contentId)
    const stream = await hello()
    const printed = await line()
    assert.doesNotMatch(printed, /[\u001b\u202e]/)
    const { at, ...document } = JSON.parse(printed)
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000, at)
    const empty = { hasData: false, size: 700, hash: '', dataName: '' }
    assert.equal(
      JSON.stringify(document),
      JSON.stringify({ type: 'Text', text, ...empty, contentId }),
    )
    server.activateDocument({ type: 'Image', hasData: true, dataName: 'a.png', size: 5 })
    stream.event('update')
    const image = JSON.parse(await line())
    assert.deepEqual([image.dataName, image.contentId], ['a.png', null])
  })

  it('says once that it is not connected, and when it is again', async (t) => {
    const { server, line, hello, complaint, complaints } = await open(t, { args: ['--json'] })
    const broken = await hello()
    await line()
    broken.end()
    assert.equal(
      await complaint(),
      'Warning: not connected, trying again: the server ended the connection',
    )
    ;(await server.streams.next()).refuse(502)
    server.activate('second')
    const stream = await hello()
    assert.equal(JSON.parse(await line()).text, 'second')
    assert.equal(await complaint(), 'Connected again')
    stream.response.destroy()
    assert.match(await complaint(), /^Warning: not connected, trying again: Cannot reach/)
    await server.streams.next()
    assert.equal(complaints.size, 0)
  })

  it('says that it has to ask for changes', async (t) => {
    const { server, line, complaint } = await open(t)
    ;(await server.streams.next()).refuse(404)
    assert.match(await line(), /first$/)
    assert.match(await complaint(), /^Warning: asking the server .* it has no event stream$/)
  })

  it('says once that an item is left out, and goes on with the next one', async (t) => {
    const { server, line, hello, complaint, complaints } = await open(t)
    server.activate('x'.repeat(17 * 2 ** 20))
    const stream = await hello()
    assert.match(await complaint(), /^Warning: the current item is left out: .*too long/)
    server.activate('short')
    stream.event('update')
    assert.match(await line(), /short$/)
    assert.equal(complaints.size, 0)
  })

  it('exits with 1 and one line when the credentials do not count', async (t) => {
    const { server, code, complaint, complaints, stdout } = await open(t)
    ;(await server.streams.next()).refuse(401)
    assert.equal(await code, 1)
    const line = await complaint()
    assert.match(line, /does not accept the user name and password.*new link$/)
    assert.ok(!line.includes(CREDENTIALS.pwd), line)
    assert.deepEqual([complaints.size, stdout.lines.size], [0, 0])
  })

  it('exits with 0 when its reader goes away, and with 1 when the disk is full', async (t) => {
    for (const [errno, expected, count] of [
      ['EPIPE', 0, 0],
      ['ENOSPC', 1, 1],
    ] as const) {
      const { stdout, code, hello, complaints } = await open(t)
      stdout.failure = Object.assign(new Error('write'), { code: errno })
      const stream = await hello()
      assert.equal(await code, expected)
      await stream.closed
      assert.equal(complaints.size, count)
      const reason = `there is no space left (${errno})`
      if (count > 0) assert.equal(await complaints.next(), `Cannot print the change: ${reason}`)
    }
  })

  it('waits for a reader that is slow, and prints the newest then', async (t) => {
    const { server, stdout, line, hello } = await open(t, { args: ['--json'] })
    stdout.cork()
    const long = 'x'.repeat(100_000)
    server.activate(long)
    const stream = await hello()
    await (await server.pulls.next()).closed
    for (const text of ['second', 'third', 'fourth', 'fifth', 'sixth']) {
      server.activate(text)
      stream.event('update')
      await (await server.pulls.next()).closed
    }
    stdout.uncork()
    assert.equal(JSON.parse(await line()).text, long)
    const later = [JSON.parse(await line()).text]
    // What was answered last may still have been on its way.
    while (later.at(-1) !== 'sixth') later.push(JSON.parse(await line()).text)
    assert.ok(later.length <= 2, later.join())
  })

  it('remembers a server that answers', async (t) => {
    const config = await temporaryFolder(t)
    const environment = { XDG_CONFIG_HOME: config }
    const { server, line, hello, stdout, code } = await open(t, { args: ['--save'], environment })
    await hello()
    assert.match(await line(), /first$/)
    const saved = JSON.parse(await readFile(join(config, 'clipgate/server.json'), 'utf8'))
    assert.deepEqual(saved, { url: server.url, ...CREDENTIALS })
    stdout.destroy()
    assert.equal(await code, 0)
  })

  it('leaves no listener behind', async (t) => {
    const before = process.listenerCount('SIGINT')
    const { stdout, code, hello } = await open(t)
    await hello()
    assert.equal(process.listenerCount('SIGINT'), before + 1)
    stdout.destroy()
    await code
    assert.equal(process.listenerCount('SIGINT'), before)
  })
})
