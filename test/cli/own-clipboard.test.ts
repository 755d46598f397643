import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { startDaemon } from '../../src/daemon/start-daemon.ts'
import { Mailbox } from '../support/mailbox.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { unzip } from '../support/unzip.ts'
import { openTestShell, runCommand, type TestShellOptions } from '../support/test-shell.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { NEW_PHONE } from '../support/owner.ts'

/** A daemon in this process, a folder to work in, and commands of the same user beside it. */
async function open(t: TestContext) {
  const cwd = await temporaryFolder(t)
  const dataDir = join(cwd, 'data')
  const start = () =>
    startDaemon({
      ...{ dataDir, headless: true, logLevel: 'error' },
      listen: [{ host: '127.0.0.1', port: 0 }],
      control: { host: '127.0.0.1', port: 0 },
    })
  const daemon = await start()
  t.after(() => daemon.stop())
  const environment = { XDG_CONFIG_HOME: join(cwd, 'config'), CLIPGATE_DATA_DIR: dataDir }
  const run = (args: readonly string[], options: TestShellOptions = {}) =>
    runCommand(args, { cwd, environment, ...options })
  const phone = createPhone(
    await daemon.admin.pair({ ...NEW_PHONE, url: daemon.ready.gateway }),
    daemon.ready.gateway,
  )
  return { daemon, cwd, dataDir, environment, run, phone, start }
}

describe('without a link, clipgate push and pull', () => {
  it('are for the daemon that runs here, and need no device', async (t) => {
    const { run, phone } = await open(t)
    for (const text of ['hello', 'two\nlines\r\n\n', '日本\u202e', 'https://example.net/']) {
      const pushed = await run(['push'], { stdin: text })
      assert.deepEqual([pushed.code, pushed.stderr], [0, ''])
      assert.equal((await phone.document())['text'], text)
      const pulled = await run(['pull'])
      assert.deepEqual([pulled.code, pulled.stdout, pulled.stderr], [0, text, ''])
    }
    await phone.pushText('from the phone')
    assert.equal((await run(['pull'])).stdout, 'from the phone')
  })

  it('bring files of any size, byte for byte', async (t) => {
    const { run, cwd, phone } = await open(t)
    const bytes = randomBytes(9 * 2 ** 20)
    await writeFile(join(cwd, 'a photo #1%.bin'), bytes)
    const pushed = await run(['push', 'a photo #1%.bin', '--json'])
    assert.equal(JSON.parse(pushed.stdout).size, bytes.length, pushed.stderr)
    assert.equal((await phone.document())['dataName'], 'a photo #1%.bin')
    const pulled = await run(['pull', '--output', 'b.bin'])
    assert.equal(pulled.code, 0, pulled.stderr)
    assert.deepEqual(await readFile(join(cwd, 'b.bin')), bytes)
  })

  it('make several files one item, also such as have one name', needs('python3'), async (t) => {
    const { run, cwd, phone } = await open(t)
    const film = randomBytes(9 * 2 ** 20)
    await mkdir(join(cwd, 'other'))
    await writeFile(join(cwd, 'a.txt'), 'first')
    await writeFile(join(cwd, 'other', 'a.txt'), 'second')
    await writeFile(join(cwd, 'film.mp4'), film)
    const pushed = await run(['push', 'a.txt', 'other/a.txt', 'film.mp4'])
    assert.equal(pushed.stdout, 'Pushed 3 files (9.0 MiB)\n', pushed.stderr)
    const { type, dataName } = await phone.document()
    assert.equal(type, 'Group')
    const archive = await phone.fetch(`/file/${dataName}`)
    assert.deepEqual(await unzip(Buffer.from(await archive.arrayBuffer())), {
      'a.txt': 'first',
      'a (2).txt': 'second',
      'film.mp4': film.toString('latin1'),
    })

    const folder = await run(['push', 'a.txt', 'other'])
    assert.deepEqual([folder.code, folder.errors.length], [1, 1])
    assert.match(folder.errors.join(), /other": it is no file; make an archive of a folder first$/)
    assert.equal((await phone.document())['dataName'], dataName)
  })

  it('are for the daemon of --data-dir, whatever is on stdin, and whoever was saved', async (t) => {
    const { run, dataDir, cwd } = await open(t)
    const own = ['--data-dir', dataDir]
    const elsewhere = { environment: { XDG_CONFIG_HOME: join(cwd, 'config') } }
    const text = 'clip://connect?v=1 is how links begin'
    assert.equal((await run(['push', ...own], { stdin: text, ...elsewhere })).code, 0)
    assert.equal((await run(['pull', ...own], { stdin: text, ...elsewhere })).stdout, text)
    for (const damaged of [text, ` ${text}`, text.replace('clip', 'Klip'), 'CLIP:/connect?x']) {
      const { code, stderr } = await run(['push'], { stdin: damaged })
      assert.equal(code, 1, damaged)
      assert.match(stderr, /Cannot use the connect link/)
    }
  })

  it('say what to do where no daemon runs', async (t) => {
    const { daemon, run } = await open(t)
    await daemon.stop()
    for (const args of [['push'], ['pull'], ['watch']]) {
      const { code, stdout, errors } = await run(args, { stdin: 'my secret text' })
      assert.deepEqual([code, stdout, errors.length], [1, '', 1])
      assert.match(errors.join(), /no daemon runs here.*clipgate serve.*--link-file/)
      assert.doesNotMatch(errors.join(), /secret/)
    }
  })

  it('can continue an upload, and give one up', async (t) => {
    const { daemon, dataDir, phone } = await open(t)
    const token = (await readFile(join(dataDir, 'control.token'), 'utf8')).trim()
    const file = `${daemon.ready.control}/clipboard/file/a.bin`
    const ask = async (
      [method, url]: readonly [string, string],
      headers: Readonly<Record<string, string>> = {},
      body?: string,
    ): Promise<Response> => {
      const answer = await fetch(url, {
        ...{ method, headers: { ...headers, Authorization: `Bearer ${token}` } },
        ...(body === undefined ? {} : { body }),
      })
      await answer.arrayBuffer()
      return answer
    }
    const limits = await ask(['OPTIONS', file])
    assert.deepEqual(
      [limits.status, limits.headers.has('upload-limit'), limits.headers.get('allow')],
      [204, true, 'GET, HEAD, PUT, OPTIONS'],
    )
    const begin = async (): Promise<string> => {
      const begun = await ask(['PUT', file], { 'Upload-Complete': '?0', 'Upload-Length': '5' })
      assert.equal(begun.status, 201)
      return new URL(begun.headers.get('location') ?? '', file).href
    }
    const upload = await begin()
    const patch = (offset: number, complete: string, body: string): Promise<Response> =>
      ask(
        ['PATCH', upload],
        {
          'Content-Type': 'application/partial-upload',
          'Upload-Offset': String(offset),
          'Upload-Complete': complete,
        },
        body,
      )
    assert.equal((await patch(0, '?0', 'hel')).status, 204)
    const state = await ask(['HEAD', upload])
    assert.deepEqual([state.status, state.headers.get('upload-offset')], [204, '3'])
    assert.equal((await patch(3, '?1', 'lo')).status, 200)
    const document = JSON.stringify({ type: 'File', dataName: 'a.bin', hasData: true })
    const pushed = await ask(['PUT', `${daemon.ready.control}/clipboard/Sync.json`], {}, document)
    assert.equal(pushed.status, 200)
    assert.equal(String(await phone.download()), 'hello')

    const unwanted = await begin()
    assert.equal((await ask(['DELETE', unwanted])).status, 204)
    assert.equal((await ask(['HEAD', unwanted])).status, 404)
    assert.deepEqual(await readdir(join(dataDir, 'staging')), [])
  })

  it('need the token of the control listener', async (t) => {
    const { daemon } = await open(t)
    for (const path of ['/Sync.json', '/file/a.bin', '/file-uploads/abc', '/api/sse/clipboard']) {
      for (const method of ['GET', 'PUT']) {
        const status = await new Promise((resolve, reject) => {
          const url = `${daemon.ready.control}/clipboard${path}`
          const asked = request(url, { method }, (answer) => resolve(answer.resume().statusCode))
          asked.on('error', reject).end()
        })
        assert.equal(status, 401, `${method} ${path}`)
      }
    }
  })
})

describe('without a link, clipgate watch', () => {
  it('tells each change here, also after the daemon was started again', async (t) => {
    const { daemon, environment, cwd, phone, start, run } = await open(t)
    await phone.pushText('first')
    const { shell } = openTestShell({ environment, cwd })
    const seen = new Mailbox<string>()
    const { write } = shell.stdout
    shell.stdout.write = ((line: string, done?: () => void) => {
      if (line !== '') seen.put(JSON.parse(line).text)
      return write.call(shell.stdout, line, 'utf8', done)
    }) as typeof write
    const ended = runCli(['watch', '--json'], shell)
    assert.equal(await seen.next(), 'first')
    await run(['push'], { stdin: 'second' })
    assert.equal(await seen.next(), 'second')
    await daemon.stop()
    const again = await start()
    t.after(() => again.stop())
    await run(['push'], { stdin: 'third' })
    assert.equal(await seen.next(), 'third')
    shell.stdout.emit('close')
    assert.equal(await ended, 0)
  })
})
