import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it, type TestContext } from 'node:test'
import { readVersion } from '../../src/daemon/version.ts'
import { announce } from '../faults/support/raw-device.ts'
import {
  type DaemonProcess,
  isolatedEnvironment,
  startDaemonProcess,
  type PairedDevice,
} from '../support/daemon-process.ts'
import { PROGRAM } from '../support/program.ts'
import { execute } from '../support/execute.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { lastRows, readCells, readScreen } from './support/read-screen.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const FREE_PORTS = ['--listen', '127.0.0.1:0', '--control', '127.0.0.1:0']

const VERSION = readVersion()

const HEADLESS = { args: ['--headless'] }

/** Keys, in the order that scripts see. */
function keysOf(json: string): readonly string[] {
  const value: unknown = JSON.parse(json)
  assert.ok(typeof value === 'object' && value !== null)
  return Object.keys(value)
}

const PAIRING = ['id', 'kind', 'label', 'username', 'password', 'url', 'link', 'page']

describe('clipgate serve', () => {
  it('says when it is ready, where, and as what', async (t) => {
    const daemon = await startDaemonProcess(t, HEADLESS)
    const { ready } = daemon
    const { gateway, control } = ready
    const { pid } = daemon.child
    const said = { event: 'ready', gateway, control, mode: 'headless', clipboard: 'none', pid }
    assert.equal(JSON.stringify(ready), JSON.stringify(said))
    assert.match(gateway, /^http:\/\/127\.0\.0\.1:[1-9]\d*$/)
    assert.equal((await fetch(`${gateway}/healthz`)).status, 204)
    assert.deepEqual(await (await fetch(`${control}/health`)).json(), { status: 'ok' })
    assert.equal(await daemon.stop(), 0)
  })

  it('stops for each of its signals', async (t) => {
    for (const signal of ['SIGINT', 'SIGHUP'] as const) {
      const daemon = await startDaemonProcess(t, HEADLESS)
      daemon.child.kill(signal)
      assert.deepEqual(await once(daemon.child, 'exit'), [0, null], signal)
    }
  })

  it('stops for clipgate stop, which returns when everything is free', async (t) => {
    const daemon = await startDaemonProcess(t, HEADLESS)
    const exited = once(daemon.child, 'exit')
    const { stdout } = await daemon.run('stop', '--json')
    assert.equal(stdout, `{"pid":${daemon.child.pid}}\n`)
    assert.ok(!(await readdir(join(daemon.folder, 'data'))).includes('lock'))
    assert.deepEqual(await exited, [0, null])
    await assert.rejects(daemon.run('stop'), { code: 1, stderr: 'Cannot stop: no daemon runs\n' })
  })

  it('ends at the second signal, whatever is in flight', async (t) => {
    const daemon = await startDaemonProcess(t, { ...HEADLESS, devices: ['Phone'] })
    const { username, password } = await daemon.pair('Phone')
    const { port } = new URL(daemon.ready.gateway)
    const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined)
    const login = Buffer.from(`${username}:${password}`).toString('base64')
    socket.write(`PUT /file/a HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${login}\r\n`)
    socket.write('Expect: 100-continue\r\nContent-Length: 100\r\n\r\n')
    // The upload is under way.
    assert.match(String((await once(socket, 'data'))[0]), /100 Continue/)
    daemon.child.kill('SIGTERM')
    // A connection of its own each time: idle ones are closed as soon as it drains.
    const headers = { connection: 'close' }
    while ((await fetch(`${daemon.ready.gateway}/healthz`, { headers })).status !== 503);
    daemon.child.kill('SIGTERM')
    assert.deepEqual(await once(daemon.child, 'exit'), [143, null])
    socket.destroy()
  })

  it('goes on when nobody reads its output any more', async (t) => {
    const args = ['--headless', '--log-level', 'debug']
    const daemon = await startDaemonProcess(t, { args, devices: ['Phone'] })
    daemon.child.stdout?.destroy()
    daemon.child.stderr?.destroy()
    const phone = await daemon.phone()
    await phone.pushText('hello')
    assert.equal((await phone.document())['text'], 'hello')
    assert.equal(await daemon.stop(), 0)
  })

  it('pairs a first device when it is told to, and only a first one', async (t) => {
    const folder = await temporaryFolder(t)
    const args = ['serve', '--json', '--pair-first', '--headless', ...FREE_PORTS]
    const start = () => {
      const child = spawn(process.execPath, [...PROGRAM, ...args], {
        env: isolatedEnvironment(folder),
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      t.after(() => child.kill('SIGKILL'))
      return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() }
    }
    const first = start()
    const { gateway } = JSON.parse((await first.lines.next()).value)
    const paired = (await first.lines.next()).value
    assert.deepEqual(keysOf(paired), PAIRING)
    assert.equal((await createPhone(JSON.parse(paired), gateway).fetch('/')).status, 200)
    first.child.kill()
    await once(first.child, 'exit')

    const second = start()
    assert.equal(JSON.parse((await second.lines.next()).value).event, 'ready')
    second.child.kill()
    assert.equal((await second.lines.next()).done, true)
  })
})

/** The lines at level `info`, without their times, and the fields of `text` in their place. */
function trailOf({ log }: DaemonProcess): readonly string[] {
  return [...log().matchAll(/^\S+ info {2}(.*)$/gm)].map(([, line = '']) => line)
}

/** When a login was refused depends on the time. */
const isTrail = (line: string): boolean => !line.startsWith('Refused ')

describe('the log of clipgate serve', () => {
  it('tells who was paired, rotated and shut out, from where they came, and when it ran', async (t) => {
    const daemon = await startDaemonProcess(t, { args: ['--headless', '--grace', '0'] })
    const { gateway, control } = daemon.ready
    const device = await daemon.pair('My\u202e phone')
    const phone = createPhone(device, gateway)
    for (let count = 0; count < 2; count++) assert.equal((await phone.fetch('/')).status, 200)
    const panel = (await daemon.run('panel', '--json')).stdout
    const { url } = JSON.parse(panel)
    const token = new URL(url).hash.slice(1)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ kind: 'phone', label: 'At the panel' })
    const other = await fetch(`${control}/devices`, { method: 'POST', headers, body })
    const { id } = (await other.json()) as { readonly id: string }
    await daemon.run('rotate', device.id)
    await daemon.run('revoke', id)
    const late = await daemon.pair('Late')
    const upload = await announce(daemon, late, 'PUT /file/secret.bin', 11)
    const guess = createPhone({ username: late.username, password: 'a wrong secret' }, gateway)
    assert.equal((await guess.fetch('/')).status, 401)
    await createPhone(late, gateway).pushFile('File', 'secret.txt', Buffer.from('a secret'))
    const told = (await daemon.run('log')).stdout
    const json = (await daemon.run('log', '--json')).stdout
    assert.equal(await daemon.stop(), 0)
    upload.close()

    const phoneFields = `device="${device.id}" label="My\\u{202e} phone"`
    assert.deepEqual(trailOf(daemon), [
      `Started version="${VERSION}" dataDir="${daemon.folder}/data" gateway="${gateway}" ` +
        `control="${control}" mode="headless"`,
      `A device was paired ${phoneFields} by="command"`,
      `A device logged in from a new address ${phoneFields} address="127.0.0.1"`,
      `A device was paired device="${id}" label="At the panel" by="panel"`,
      `A device was given a new password ${phoneFields} by="command"`,
      `A device was revoked device="${id}" label="At the panel" by="command"`,
      `A device was paired device="${late.id}" label="Late" by="command"`,
      `A device logged in from a new address device="${late.id}" label="Late" address="127.0.0.1"`,
      'Stopped by="SIGTERM" cut=1',
    ])
    assert.match(daemon.log(), /Logins were refused: the password .* times=1 .*\n.*Stopped/)
    // One event, two readers: `log` tells the same, and what is at the level debug.
    assert.deepEqual(
      told
        .replaceAll(/^\S+ \S+ {2}/gm, '')
        .split('\n')
        .filter(isTrail),
      [
        'My\\u{202e} phone was paired with a command',
        'My\\u{202e} phone logged in from a new address (127.0.0.1)',
        'At the panel was paired in the panel',
        'My\\u{202e} phone was given a new password with a command',
        'At the panel was removed with a command',
        'Late was paired with a command',
        'Late logged in from a new address (127.0.0.1)',
        'Late sent a file (8 bytes)',
        '',
      ],
    )
    const pushed = json.split('\n').find((line) => line.includes('"pushed"'))
    const { kind, label, type, size, by } = JSON.parse(pushed ?? '')
    assert.deepEqual([kind, label, type, size, by], ['pushed', 'Late', 'File', 8, null])
    for (const text of [told, json]) assert.doesNotMatch(text, /secret/)
    for (const secret of ['secret', device.password, late.password, token]) {
      assert.ok(!daemon.log().includes(secret), secret)
    }
  })
})

describe('clipgate serve, whose output cannot be kept,', needs('sh'), () => {
  it('pairs no device that nobody was shown, and goes on', async (t) => {
    const folder = await temporaryFolder(t)
    const args = ['serve', '--pair-first', '--headless', ...FREE_PORTS]
    const child = spawn(
      'sh',
      ['-c', 'exec "$0" "$@" > /dev/full', process.execPath, ...PROGRAM, ...args],
      { env: isolatedEnvironment(folder), stdio: ['ignore', 'ignore', 'pipe'] },
    )
    t.after(() => child.kill('SIGKILL'))
    const lines = createInterface({ input: child.stderr })[Symbol.asyncIterator]()
    let line = (await lines.next()).value
    while (!/cannot pair a first device/.test(line)) line = (await lines.next()).value
    assert.match(line, /ENOSPC; it was removed again$/)
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [1, null])
    const { devices } = JSON.parse(await readFile(join(folder, 'data', 'devices.json'), 'utf8'))
    assert.deepEqual(devices, [])
  })
})

/** Runs `clipgate serve` in a window of this size, and reads what it shows. */
function watchServe(t: TestContext, folder: string, columns = 0, rows = 0) {
  const listen = ['--public-url', 'http://192.168.123.210:42720', ...FREE_PORTS]
  const serve = [process.execPath, ...PROGRAM, 'serve', '--headless', ...listen].join(' ')
  const size = `stty cols ${columns} rows ${rows} && exec`
  const terminal = spawn('script', ['-qefc', `${size} ${serve}`, '/dev/null'], {
    env: isolatedEnvironment(folder, { SHELL: '/bin/sh' }),
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  t.after(() => terminal.kill('SIGKILL'))
  let shown = ''
  const texts = terminal.stdout.setEncoding('utf8')[Symbol.asyncIterator]()
  const until = async (wanted: RegExp): Promise<string> => {
    while (!wanted.test(shown)) {
      const { done, value } = await texts.next()
      assert.ok(done !== true, `${shown} lacks ${wanted}`)
      shown += value
    }
    return shown.replaceAll('\r\n', '\n')
  }
  const stop = async () => {
    process.kill(Number(/process\s+(\d+)/.exec(shown)?.[1]), 'SIGTERM')
    if (terminal.exitCode === null) await once(terminal, 'exit')
    return terminal.exitCode
  }
  const type = (keys: string) => terminal.stdin.write(keys)
  return { until, type, stop }
}

/** Sends as the phone that was paired there; resolves when it was taken. */
async function connectTo({ until }: ReturnType<typeof watchServe>) {
  const shown = await until(/Stop: Ctrl-C/)
  const [, base, username, password] =
    /is ready: (\S+)[\s\S]*user {6}(\S+)\n {2}password {2}(\S+)/.exec(shown) ?? []
  const login = Buffer.from(`${username}:${password}`).toString('base64')
  return async (path: string, body: string): Promise<void> => {
    const headers = { Authorization: `Basic ${login}` }
    const { status } = await fetch(`${base}${path}`, { method: 'PUT', headers, body })
    assert.equal(status, 200)
  }
}

describe('clipgate pair on a terminal', needs('script'), () => {
  it('has the whole code in a window of 40 by 24, also when it warns', async (t) => {
    const { folder } = await startDaemonProcess(t, HEADLESS)
    const command = [process.execPath, ...PROGRAM, 'pair'].join(' ')
    const sized = `stty cols 40 rows 24 && exec ${command}`
    const env = isolatedEnvironment(folder, { SHELL: '/bin/sh' })
    const { stdout } = await execute('script', ['-qefc', sized, '/dev/null'], { env })
    assert.match(stdout, /Warning: .* phones cannot reach this URL/)
    const code = lastRows(stdout, 40, 24).filter((line) => line.startsWith('\u001b['))
    assert.equal(code.length, Math.ceil(readCells(code[0] ?? '').length / 2))
    assert.match(readScreen(code.join('\n')), /^http:\/\/127\.0\.0\.1:\d+\/phone#/)
  })
})

describe('clipgate serve on a terminal', needs('script'), () => {
  it('shows what to scan, once, and says in words that it is ready', async (t) => {
    const folder = await temporaryFolder(t)
    const first = watchServe(t, folder)
    const shown = await first.until(/Stop: Ctrl-C/)
    assert.match(shown, /is ready: http:\/\/127\.0\.0\.1:\d+ \(headless\)/)
    assert.match(shown, /is ready[\s\S]*password {2}[\w-]{22}\n[\s\S]*clip:\/\/connect[\s\S]*▀/)
    // The terminal says in words what the log would say beside the code.
    assert.doesNotMatch(shown, / info /)
    assert.match(shown, /not on your PATH: where it says "clipgate", type: node .*main\.[jt]s\n/)
    assert.equal(await first.stop(), 0)
    const second = watchServe(t, folder)
    assert.doesNotMatch(await second.until(/Stop: Ctrl-C/), /▀|password/)
    assert.equal(await second.stop(), 0)
  })

  for (const [columns, rows] of [
    [80, 24],
    [40, 24],
  ] as const) {
    it(`has the code and what to do in a window of ${columns} by ${rows}`, async (t) => {
      const serve = watchServe(t, await temporaryFolder(t), columns, rows)
      const shown = await serve.until(/Stop: Ctrl-C\r\n/)
      const window = shown.split('\n').slice(-rows)
      const words = window.filter((line) => !line.startsWith('\u001b'))
      assert.ok(words.every((line) => line.length < columns || /clip:|http:/.test(line)))
      const below = words.slice(words.indexOf("Scan this with the phone's camera."))
      const hints = ['Panel: clipgate panel', 'Another phone: clipgate pair', 'Stop: Ctrl-C']
      assert.equal(
        below.join('   '),
        `Scan this with the phone's camera.   ${hints.join('   ')}   `,
      )
      assert.match(readScreen(window.join('\n')), /^http:\/\/192\.168\.123\.210:42720\/phone#/)
      await serve.stop()
    })
  }

  it('tells who is connected, and what was sent, without its content', async (t) => {
    const serve = watchServe(t, await temporaryFolder(t), 80, 24)
    const send = await connectTo(serve)
    const push = (document: object) => send('/Sync.json', JSON.stringify(document))
    await push({ type: 'Text', text: 'secret words' })
    await serve.until(
      /^Phone is connected \(127\.0\.0\.1\)\r\n[\s\S]*^Phone sent a text \(12 bytes\)\r\n/m,
    )
    const dataName = 'IMG\u202e_0001.jpg'
    await send(`/file/${encodeURIComponent(dataName)}`, 'photo')
    await push({ type: 'File', hasData: true, dataName })
    const all = await serve.until(/Phone sent IMG\\u\{202e\}_0001\.jpg \(5 bytes\)\r\n/)
    // Nor is anything told twice, by the log as well.
    assert.doesNotMatch(all, /secret|photo| info /)
    await serve.stop()
  })

  it('tells who came and went in words, not as a log has it', async (t) => {
    const folder = await temporaryFolder(t)
    const serve = watchServe(t, folder, 80, 24)
    await serve.until(/Stop: Ctrl-C/)
    const run = (...args: readonly string[]) =>
      execute(process.execPath, [...PROGRAM, ...args], { env: isolatedEnvironment(folder) })
    await run('pair', '--label', 'Second')
    await run('revoke', 'Second')
    const all = await serve.until(/^Second was removed with a command\r\n/m)
    assert.match(all, /^Second was paired with a command\n/m)
    assert.doesNotMatch(all, / info |did_/)
    await serve.stop()
  })

  it('serves on while the terminal is held, and then says how much it left out', async (t) => {
    const serve = watchServe(t, await temporaryFolder(t), 80, 24)
    const send = await connectTo(serve)
    const push = (text: string) => send('/Sync.json', JSON.stringify({ type: 'Text', text }))
    await push('first')
    await serve.until(/Phone sent a text \(5 bytes\)/)
    // Ctrl-S. It holds once it has come to the terminal: from the first line that is not shown.
    serve.type('\x13')
    for (let count = 0; count < 300; count++) await push(`text ${count}`)
    serve.type('\x11')
    await serve.until(/\(\d+ lines left out\)/)
    await push('the last of all texts')
    await serve.until(/Phone sent a text \(21 bytes\)/)
    await serve.stop()
  })
})

describe('commands beside a daemon', () => {
  it('work on it while it runs, at once, and without it the same', async (t) => {
    const daemon = await startDaemonProcess(t, HEADLESS)
    const run = async (...args: readonly string[]) => (await daemon.run(...args)).stdout
    const paired = await run('pair', '--json', '--username', 'while_running')
    assert.deepEqual(keysOf(paired), PAIRING)
    const device: PairedDevice = JSON.parse(paired)
    assert.equal(device.url, daemon.ready.gateway)
    const phone = createPhone(device, daemon.ready.gateway)
    assert.equal((await phone.fetch('/')).status, 200)

    const rotated: PairedDevice = JSON.parse(await run('rotate', device.id, '--json'))
    assert.deepEqual(Object.keys(rotated), PAIRING)
    assert.equal((await phone.fetch('/')).status, 401)
    assert.equal((await createPhone(rotated, daemon.ready.gateway).fetch('/')).status, 200)
    assert.equal(JSON.parse(await run('status', '--json')).running, true)
    const listed = await run('devices', '--json')
    assert.equal(JSON.parse(listed)[0].username, 'while_running')

    assert.equal(await daemon.stop(), 0)
    const offline = await run('devices', '--json')
    assert.deepEqual(JSON.parse(offline)[0].id, device.id)
    assert.deepEqual(Object.keys(JSON.parse(offline)[0]), Object.keys(JSON.parse(listed)[0]))
    await assert.rejects(run('status', '--json'), ({ code, stdout }) => {
      const { running, pid, devices } = JSON.parse(stdout)
      assert.deepEqual([code, running, pid, devices], [3, false, null, 1])
      return true
    })
    assert.deepEqual(keysOf(await run('pair', '--json', '--url', 'http://host.example/')), PAIRING)
    assert.deepEqual(JSON.parse(await run('revoke', 'while_running', '--json')), { id: device.id })
    await assert.rejects(run('revoke', 'while_running'), /Cannot find a device.*clipgate devices/)
  })

  it('wait for each other', async (t) => {
    const daemon = await startDaemonProcess(t, HEADLESS)
    await daemon.stop()
    await Promise.all([1, 2, 3].map((number) => daemon.pair(`Phone ${number}`)))
    assert.equal(JSON.parse((await daemon.run('devices', '--json')).stdout).length, 3)
  })
})
