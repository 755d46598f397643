import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { formatConnectLink } from '../../src/link/connect-link.ts'
import { serveUploads } from '../gateway/support/upload-client.ts'
import { layWire } from '../phone/support/wire.ts'
import { defer } from '../support/defer.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { serveGateway } from '../support/gateway.ts'
import { sha256 } from '../support/hashes.ts'
import { listen } from '../support/listen.ts'
import { runCommand, type TestShellOptions } from '../support/test-shell.ts'

/** A gateway, a folder to work in, and a link in a file. */
async function open(t: TestContext, serve: typeof serveGateway = serveGateway) {
  const gateway = await serve(t)
  const cwd = await temporaryFolder(t)
  const { username: user } = gateway.device
  const link = formatConnectLink({ url: gateway.url, user, pwd: gateway.password })
  await writeFile(join(cwd, 'link.txt'), `${link}\n`)
  const environment = { XDG_CONFIG_HOME: join(cwd, 'config') }
  const run = (args: readonly string[], options: TestShellOptions = {}) =>
    runCommand(args, { cwd, environment, ...options })
  const withLink = (args: readonly string[], options: TestShellOptions = {}) =>
    run([...args, '--link-file', 'link.txt'], options)
  const files = async () => (await readdir(cwd)).filter((name) => !/^(?:link|config)/.test(name))
  return { ...gateway, cwd, link, run, withLink, files }
}

describe('clipgate push and pull', () => {
  it('bring a text there and back, byte for byte', async (t) => {
    const { withLink } = await open(t)
    for (const text of ['hello', 'two\nlines\r\n\n', '\uFEFF日本\u202e\u001b[2J\0', ' ']) {
      const pushed = await withLink(['push'], { stdin: text })
      assert.equal(pushed.code, 0, pushed.stderr)
      const pulled = await withLink(['pull'])
      assert.deepEqual([pulled.code, pulled.stdout, pulled.stderr], [0, text, ''])
    }
  })

  it('show a text on a terminal without anything that it would obey', async (t) => {
    const { withLink } = await open(t)
    await withLink(['push'], { stdin: 'two\nlines\t\u001b]0;title\u0007\u202e' })
    const { stdout } = await withLink(['pull'], { columns: 80 })
    // The prompt that follows has a line of its own.
    assert.equal(stdout, 'two\nlines\t\\u{1b}]0;title\\u{7}\\u{202e}\n')
    await withLink(['push'], { stdin: 'with an end\n' })
    assert.equal((await withLink(['pull'], { columns: 80 })).stdout, 'with an end\n')
  })

  it('bring a file there and back under its own name, and never over another file', async (t) => {
    const { withLink, cwd, files } = await open(t)
    const bytes = randomBytes(300_000)
    await writeFile(join(cwd, 'a photo #1%.bin'), bytes)
    const pushed = await withLink(['push', 'a photo #1%.bin'])
    assert.deepEqual([pushed.code, pushed.stdout], [0, 'Pushed a photo #1%.bin (293 KiB)\n'])

    const pulled = await withLink(['pull'])
    assert.match(pulled.stdout, /^Saved .*[\\/]a photo #1% \(2\)\.bin \(293 KiB\)\n$/)
    assert.deepEqual((await files()).sort(), ['a photo #1% (2).bin', 'a photo #1%.bin'])
    assert.deepEqual(await readFile(join(cwd, 'a photo #1% (2).bin')), bytes)
  })

  it('send two files of one name at the same moment, and each is what was said of it', async (t) => {
    const { gateway, device, password, phone, cwd, run } = await open(t)
    const [reached, goesOn] = [defer<void>(), defer<void>()]
    let isFirst = true
    // The document of the first comes behind all of the second.
    const slow = createServer(async (request, response) => {
      if (isFirst && request.url === '/Sync.json') {
        isFirst = false
        reached.resolve()
        await goesOn.promise
      }
      gateway(request, response)
    })
    const url = `http://127.0.0.1:${await listen(t, slow)}`
    const link = formatConnectLink({ url, user: device.username, pwd: password })
    await writeFile(join(cwd, 'slow.txt'), link)
    const push = async (folder: string) => {
      await mkdir(join(cwd, folder))
      await writeFile(join(cwd, folder, 'report.txt'), folder)
      return run(['push', `${folder}/report.txt`, '--link-file', 'slow.txt'])
    }
    const first = push('first')
    await reached.promise
    assert.equal((await push('second')).code, 0)
    assert.equal((await phone.download()).toString(), 'second')
    goesOn.resolve()
    const pushed = await first
    assert.equal(pushed.code, 0, pushed.stderr)
    assert.equal((await phone.download()).toString(), 'first')
    assert.equal((await phone.document())['dataName'], 'report.txt')
  })

  it('say how many files can be one item, before any is sent', async (t) => {
    const { withLink, cwd } = await open(t)
    await writeFile(join(cwd, 'a'), 'a')
    const { code, errors } = await withLink(['push', ...Array.from({ length: 501 }, () => 'a')])
    assert.equal(code, 2)
    assert.match(errors.join('\n'), /^Cannot push 501 files: at most 500 can be one item; make an/)
  })

  it('go on with a large file when a proxy on the way has once an error of its own', async (t) => {
    const { url, device, password, cwd, run, phone } = await open(t, serveUploads)
    const wire = await layWire(t, url)
    const link = formatConnectLink({ url: wire.url, user: device.username, pwd: password })
    await writeFile(join(cwd, 'link.txt'), link)
    const bytes = randomBytes(10 * 2 ** 20)
    await writeFile(join(cwd, 'film.bin'), bytes)
    const broken = wire.breakAt(3 * 2 ** 20, undefined, 520)
    const pushed = await run(['push', 'film.bin', '--link-file', 'link.txt'])
    await broken
    assert.equal(pushed.code, 0, pushed.stderr)
    assert.deepEqual(await phone.download(), bytes)
    const methods = wire.requests.map((line) => line.split(' ')[0])
    assert.deepEqual(methods, ['OPTIONS', 'PUT', 'PATCH', 'HEAD', 'PATCH', 'PUT'])
  })

  it('print the item for scripts', async (t) => {
    const { withLink, cwd } = await open(t)
    await writeFile(join(cwd, 'a.bin'), 'bytes')
    const pushed = JSON.parse((await withLink(['push', 'a.bin', '--json'])).stdout)
    assert.match(pushed.contentId, /^blake3v1:/)
    const { contentId } = pushed
    assert.deepEqual(pushed, { type: 'File', size: 5, dataName: 'a.bin', contentId })

    const pulled = JSON.parse((await withLink(['pull', '--json', '--output', 'b.bin'])).stdout)
    assert.equal(pulled.savedTo, join(cwd, 'b.bin'))
    assert.deepEqual(
      [pulled.type, pulled.dataName, pulled.size, pulled.contentId],
      ['File', 'a.bin', 5, pushed.contentId],
    )
    assert.equal(await readFile(join(cwd, 'b.bin'), 'utf8'), 'bytes')

    const text = await withLink(['push', '--json'], { stdin: 'hello' })
    assert.equal(Object.keys(JSON.parse(text.stdout)).join(), 'type,size,dataName,contentId')
    const document = JSON.parse((await withLink(['pull', '--json'])).stdout)
    assert.deepEqual([document.type, document.text, document.savedTo], ['Text', 'hello', undefined])
  })

  it('put bytes on stdout when told to, but not on a terminal', async (t) => {
    const { withLink, cwd, files } = await open(t)
    await writeFile(join(cwd, 'a.txt'), 'plain bytes')
    await withLink(['push', 'a.txt'])
    assert.equal((await withLink(['pull', '--output', '-'])).stdout, 'plain bytes')
    const refused = await withLink(['pull', '--output', '-'], { columns: 80 })
    assert.deepEqual([refused.code, refused.stdout], [1, ''])
    assert.match(refused.stderr, /terminal/)
    assert.equal((await withLink(['pull', '--output', '-', '--json'])).code, 2)
    assert.deepEqual(await files(), ['a.txt'])
  })

  it('refuse to replace a file, and leave nothing half done', async (t) => {
    const { withLink, cwd, files } = await open(t)
    await writeFile(join(cwd, 'mine'), 'mine')
    await symlink('/nonexistent', join(cwd, 'nowhere'))
    await withLink(['push', 'mine'])
    for (const [place, message] of [
      [['--output', 'mine'], /^Cannot save ".*mine": it exists already/],
      [['--output', 'nowhere'], /^Cannot save ".*nowhere": it exists already/],
      [
        ['--dir', 'none'],
        /^Cannot save a file in ".*none": there is no such file or folder \(ENOENT\)$/,
      ],
      [
        ['--dir', 'mine'],
        /^Cannot save a file in ".*mine": part of its path is no folder \(ENOTDIR\)$/,
      ],
    ] as const) {
      const { code, errors } = await withLink(['pull', ...place])
      assert.equal(code, 1)
      assert.match(errors.join(), message)
    }
    await withLink(['push'], { stdin: 'text' })
    assert.equal((await withLink(['pull', '--output', 'mine'])).code, 1)
    assert.equal((await withLink(['pull', '--output', 'text.txt'])).code, 0)
    assert.equal(await readFile(join(cwd, 'text.txt'), 'utf8'), 'text')
    assert.deepEqual((await files()).sort(), ['mine', 'nowhere', 'text.txt'])
  })

  it('refuse to replace a file before anything is asked for', async (t) => {
    const { run, link, cwd, server } = await open(t)
    await writeFile(join(cwd, 'mine'), 'mine')
    let requests = 0
    server.on('request', () => (requests += 1))
    const { code, errors } = await run(['pull', '--save', '--output', 'mine'], { stdin: link })
    assert.deepEqual([code, errors.length, requests], [1, 1, 0])
    assert.match(errors.join(), /exists already/)
  })

  it('take the link from the first line of stdin, and the text from the rest', async (t) => {
    const { run, link } = await open(t)
    assert.equal((await run(['push'], { stdin: `${link}\nthe\ntext\n` })).code, 0)
    assert.equal((await run(['pull'], { stdin: link })).stdout, 'the\ntext\n')
    const dash = await run(['pull', '--link-file', '-'], { stdin: `${link}\r\n` })
    assert.equal(dash.stdout, 'the\ntext\n')
  })

  it('find the link in what clipgate pair has printed', async (t) => {
    const { run, link, cwd } = await open(t)
    const printed = `\u001b[0m  ▄▄▄\n\n  link\n${link}\n\nIt is shown once.\n`
    await writeFile(join(cwd, 'paired.txt'), printed)
    const inFile = ['--link-file', 'paired.txt']
    assert.equal((await run(['push', ...inFile], { stdin: 'hello' })).code, 0)
    assert.equal((await run(['pull', ...inFile])).stdout, 'hello')
  })

  it('remember the server, but not the link, in a private file', async (t) => {
    const { run, link, cwd, url, device, password } = await open(t)
    assert.equal((await run(['push', '--save'], { stdin: `${link}\nhello` })).code, 0)
    const path = join(cwd, 'config/clipgate/server.json')
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.equal((await stat(join(path, '..'))).mode & 0o777, 0o700)
    const saved = await readFile(path, 'utf8')
    assert.deepEqual(JSON.parse(saved), { url, user: device.username, pwd: password })

    assert.equal((await run(['pull'], { stdin: 'not read' })).stdout, 'hello')
    assert.equal((await run(['push'], { stdin: 'again' })).code, 0)
    assert.equal((await run(['pull'])).stdout, 'again')

    await writeFile(path, saved.slice(0, -5))
    const { code, errors } = await run(['pull'])
    assert.equal(code, 1)
    assert.equal(errors.length, 1)
    assert.match(errors.join(), /server\.json": it is damaged/)
    assert.ok(!errors.join().includes(password))
  })

  it('remember nothing that does not work', async (t) => {
    const { run, url, device, files, cwd } = await open(t)
    const wrong = formatConnectLink({ url, user: device.username, pwd: 'not the password' })
    for (const command of ['push', 'pull']) {
      const { code, errors } = await run([command, '--save'], { stdin: `${wrong}\ntext` })
      assert.equal(code, 1)
      assert.equal(errors.length, 1)
      assert.match(errors.join(), /does not accept.*new link/)
      assert.doesNotMatch(errors.join(), /not the password/)
    }
    assert.deepEqual(await files(), [])
    await assert.rejects(stat(join(cwd, 'config')), { code: 'ENOENT' })
  })

  it('exit with 1 and one line about what is wrong', async (t) => {
    const { run, withLink, cwd } = await open(t)
    const nobody = { user: 'nobody', pwd: 'secret-password' }
    const gone = formatConnectLink({ url: 'http://127.0.0.1:1', ...nobody })
    const server = createServer()
    const url = `http://127.0.0.1:${await listen(t, server)}`
    server.close()
    await writeFile(join(cwd, 'closed.txt'), formatConnectLink({ url, ...nobody }))
    const failures: readonly (readonly [readonly string[], string, RegExp])[] = [
      [['pull', '--link-file', 'link.txt'], '', /nothing was copied yet/],
      [['pull'], gone, /Cannot reach the server.*check that it runs/],
      [['pull'], '', /no daemon runs here, and there is no connect link/],
      [['pull'], 'https://secret-password', /no daemon runs here, and there is no connect link/],
      [['pull', '--link-file', '-'], '', /there is none on stdin/],
      [['pull', '--link-file', '-'], 'https://secret-password', /INVALID_SCHEME/],
      [
        ['pull', '--link-file', 'none.txt'],
        '',
        /none\.txt": there is no such file or folder \(ENOENT\)/,
      ],
      [['push', '--link-file', 'link.txt'], '', /no text on stdin/],
      [
        ['push', 'none.bin', '--link-file', 'link.txt'],
        '',
        /none\.bin": there is no such file or folder \(ENOENT\)/,
      ],
      [['push', '.', '--link-file', 'link.txt'], '', /it is no file; make an archive/],
      [
        ['pull', '--link-file', 'closed.txt'],
        '',
        /ECONNREFUSED\); nothing listens there: start it/,
      ],
    ]
    for (const [args, stdin, message] of failures) {
      const { code, stdout, stderr, errors } = await run(args, { stdin })
      assert.deepEqual([code, stdout, errors.length], [1, '', 1], stderr)
      assert.match(stderr, message)
      assert.ok(!stderr.includes('secret-password'))
    }
    const binary = await withLink(['push'], { stdin: Buffer.from([0xff, 0xfe]) })
    assert.match(binary.stderr, /it is not UTF-8/)
    assert.deepEqual((await readdir(cwd)).sort(), ['closed.txt', 'link.txt'])
  })

  it('refuse a text longer than an item may be', async (t) => {
    const { withLink } = await open(t)
    const { code, stderr } = await withLink(['push'], { stdin: Buffer.alloc(17 * 2 ** 20, 'x') })
    assert.equal(code, 1)
    assert.match(stderr, /longer than 16777216 bytes; push a file/)
  })
})

/** A server that tells any document, and any bytes. */
async function serveDocument(
  t: TestContext,
  document: object,
  bytes: string | ((response: ServerResponse) => void),
): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === '/Sync.json') response.end(JSON.stringify(document))
    else if (typeof bytes === 'string') response.end(bytes)
    else bytes(response)
  })
  const url = `http://127.0.0.1:${await listen(t, server)}`
  return formatConnectLink({ url, user: 'somebody', pwd: 'secret-password' })
}

describe('clipgate pull, from another server,', () => {
  it('keeps nothing that does not have the hash of its document', async (t) => {
    const { cwd, run, files } = await open(t)
    const document = { type: 'File', hasData: true, dataName: 'a', size: 5, hash: '0'.repeat(64) }
    const stdin = await serveDocument(t, document, 'bytes')
    for (const args of [['pull'], ['pull', '--output', '-'], ['pull', '--output', 'b']]) {
      const { code, errors } = await run(args, { stdin })
      assert.equal(code, 1)
      assert.match(errors.join(), /its hash is another one/)
    }
    assert.deepEqual(await files(), [], cwd)
  })

  it('takes the hash of the bytes and the name-bound one, in any case', async (t) => {
    const { run } = await open(t)
    const document = { type: 'File', hasData: true, dataName: 'a.bin', size: 5 }
    const bound = sha256(`a.bin|${sha256('hello').toUpperCase()}`)
    for (const hash of [sha256('hello'), sha256('hello').toUpperCase(), bound, '']) {
      const stdin = await serveDocument(t, { ...document, hash }, 'hello')
      assert.equal((await run(['pull', '--output', '-'], { stdin })).code, 0, hash)
    }
    const stdin = await serveDocument(t, { ...document, dataName: 'b.bin', hash: bound }, 'hello')
    assert.equal((await run(['pull', '--output', '-'], { stdin })).code, 1)
  })

  it('keeps nothing of a file that breaks off', async (t) => {
    const { run, files } = await open(t)
    const document = { type: 'File', hasData: true, dataName: 'a', size: 5 }
    const stdin = await serveDocument(t, document, (response) => {
      response.writeHead(200, { 'Content-Length': 5 }).write('x', () => response.destroy())
    })
    for (const args of [['pull'], ['pull', '--output', 'b']]) {
      assert.match((await run(args, { stdin })).errors.join(), /^Cannot reach the server/)
    }
    assert.deepEqual(await files(), [])
  })

  it('prints a text that it keeps as a file', async (t) => {
    const { run } = await open(t)
    const document = { type: 'Text', text: 'lon', hasData: true, dataName: 'long.txt', size: 9 }
    const stdin = await serveDocument(t, document, 'long text')
    assert.equal((await run(['pull'], { stdin })).stdout, 'long text')
    assert.equal(JSON.parse((await run(['pull', '--json'], { stdin })).stdout).text, 'long text')
    const endless = await serveDocument(t, document, 'x'.repeat(17 * 2 ** 20))
    assert.match((await run(['pull'], { stdin: endless })).stderr, /too long/)
  })

  it('saves a file under a safe name', async (t) => {
    const { cwd, run, files } = await open(t)
    const document = { type: 'File', hasData: true, dataName: '.bashrc', size: 5 }
    const stdin = await serveDocument(t, document, 'bytes')
    assert.equal((await run(['pull', '--dir', cwd], { stdin })).code, 0)
    const [name = ''] = await files()
    assert.doesNotMatch(name, /^\./)
  })
})
