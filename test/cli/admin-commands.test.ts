import assert from 'node:assert/strict'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { Admin, DeviceSummary } from '../../src/ports/admin.ts'
import { createFakeAdmin, STATUS, type FakeAdmin } from '../support/fake-admin.ts'
import { holdDataDirectory, serveControl } from '../support/held-data-directory.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { runCommand, type TestShellOptions } from '../support/test-shell.ts'
import { readScreen } from './support/read-screen.ts'

/** Commands beside a daemon that is this fake. */
async function beside(t: TestContext, admin: Admin) {
  const held = await holdDataDirectory(t)
  await serveControl(t, held, admin)
  return (args: readonly string[], options: TestShellOptions = {}) =>
    runCommand([...args, '--data-dir', held.dataDir], options)
}

function withStatus(admin: FakeAdmin, status: Partial<typeof STATUS>): Admin {
  return { ...admin, status: async () => ({ ...STATUS, ...status }) }
}

describe('clipgate devices', () => {
  it('says what to do when there is none', async (t) => {
    const run = await beside(t, await createFakeAdmin())
    assert.equal(
      (await run(['devices'])).stdout,
      'No device is paired yet. Pair one: clipgate pair\n',
    )
    assert.equal((await run(['devices', '--json'])).stdout, '[]\n')
  })

  it('lists devices in columns, as wide as the terminal', async (t) => {
    const admin = await createFakeAdmin()
    const run = await beside(t, admin)
    const { device } = await admin.registry.add({
      kind: 'phone',
      username: 'my_phone',
      label: 'A\u202eB',
    })
    await admin.registry.add({ kind: 'peer', username: 'my_peer', label: 'Peer' })
    const client = `SyncClipboard/1.0 \u001b[2J${'x'.repeat(100)}`
    const at = Date.now() - 2 * 60_000
    admin.registry.noteSighting(device.id, { at, address: '192.168.1.7', client })

    const wide = (await run(['devices'])).stdout.split('\n')
    assert.match(wide[0] ?? '', /^LABEL +ID +USER NAME +KIND +LAST SEEN +FROM +CLIENT +STREAMS$/)
    assert.match(
      wide[1] ?? '',
      /^A\\u\{202e\}B +did_[0-9a-f]{8} +my_phone +phone +2 minutes ago +192\.168\.1\.7 +Sync/,
    )
    assert.match(wide[2] ?? '', /^Peer +did_[0-9a-f]{8} +my_peer +peer +never +- +- +2$/)
    const narrow = (await run(['devices'], { columns: 100 })).stdout
    assert.ok(narrow.split('\n').every((line) => line.length <= 100))
    assert.doesNotMatch(narrow, /\u001b|\u202e/)
  })

  it('shows in a narrow terminal, too, what to type for a device', async (t) => {
    const admin = await createFakeAdmin()
    const run = await beside(t, admin)
    const username = 'mobile_1a2b3c4d'
    const { device } = await admin.registry.add({ kind: 'phone', username, label: 'My phone' })
    const at = Date.now() - 31_000
    const client =
      'Mozilla/5.0 (Linux; Android 14; Pixel 7) AppleWebKit/537.36 Chrome/136.0.0.0 Mobile'
    admin.registry.noteSighting(device.id, { at, address: '192.168.123.210', client })
    const [heading, row] = (await run(['devices'], { columns: 80 })).stdout.split('\n')
    assert.equal(
      heading,
      'LABEL     USER NAME        KIND   LAST SEEN       FROM             STREAMS',
    )
    assert.match(
      row ?? '',
      /^My phone {2}mobile_1a2b3c4d {2}phone {2}\d\d seconds ago {2}192\.168\.123\.210 {2}2$/,
    )
    const wider = (await run(['devices'], { columns: 110 })).stdout
    assert.match(wider, /^My phone {2}did_[0-9a-f]{8} {2}mobile_1a2b3c4d .*210 {2}Chrome 136 /m)
    const narrow = (await run(['devices'], { columns: 40 })).stdout
    assert.match(narrow, /^LABEL {5}USER NAME\nMy phone {2}mobile_1a2b3c4d\n$/)
    // A label that is too long is cut, and never what is left to type in its place.
    const label = 'The old phone of my dear aunt Lucy'
    await admin.registry.add({ kind: 'phone', username: 'mobile_5e6f7a8b', label })
    const cut = (await run(['devices'], { columns: 40 })).stdout
    assert.match(cut, /^The old phone of my de… {2}mobile_5e6f7a8b$/m)
  })

  it('names each as other commands take it, for shells that complete a line', async (t) => {
    const admin = await createFakeAdmin()
    const run = await beside(t, admin)
    const labels = ['My phone', 'Twice', 'twice', '-x', 'a\u202eb']
    for (const [index, label] of labels.entries()) {
      await admin.registry.add({ kind: 'phone', username: `mobile_${index}`, label })
    }
    const { stdout } = await run(['devices', '--names'])
    assert.equal(stdout, 'My phone\nmobile_1\nmobile_2\nmobile_3\nmobile_4\n')
    for (const name of stdout.trim().split('\n')) {
      assert.equal((await run(['revoke', name])).code, 0, name)
    }
  })
})

describe('clipgate peers', () => {
  it('says what to do about one that does not let us in any more', async (t) => {
    const known = { url: 'https://desk', username: 'peer_1a2b3c4d', tlsFingerprint: undefined }
    const peers = async () => [
      { name: 'desk', ...known, state: 'refused', error: 'It was revoked there' } as const,
      { name: 'node', ...known, state: 'connected', error: undefined } as const,
    ]
    const run = await beside(t, { ...(await createFakeAdmin()), peers })
    const { stdout } = await run(['peers'])
    assert.match(
      stdout,
      / refused +It was revoked there; join again with a new link\n.* connected +-\n/,
    )
    assert.equal((await run(['peers', '--names'])).stdout, 'desk\nnode\n')
    const narrow = (await run(['peers'], { columns: 40 })).stdout
    assert.match(narrow, /^desk {2}refused /m)
  })

  it('lists who has joined this one, too, and says how to shut that out', async (t) => {
    const admin = await createFakeAdmin()
    const run = await beside(t, admin)
    const username = 'peer_1a2b3c4d'
    const { device } = await admin.registry.add({ kind: 'peer', username, label: 'desk' })
    admin.registry.noteSighting(device.id, {
      at: Date.now(),
      address: '10.9.0.2',
      client: undefined,
    })
    await admin.registry.add({ kind: 'phone', username: 'mobile_1', label: 'Phone' })
    const { stdout } = await run(['peers'])
    assert.match(stdout, /^NAME .*\ndesk +from 10\.9\.0\.2 +connected +-\n$/)
    const { code, errors } = await run(['leave', 'desk'])
    assert.equal(code, 1)
    assert.match(errors.join(), /^Cannot leave "desk": it has joined .* revoke peer_1a2b3c4d$/)
    assert.equal((await run(['peers', '--json'])).stdout, '[]\n')
  })
})

describe('clipgate status', () => {
  it('tells how the daemon is, in words', async (t) => {
    const run = await beside(t, await createFakeAdmin())
    const { stdout } = await run(['status'])
    assert.match(stdout, /^Daemon +clipgate 1\.2\.3, desktop, process 4711, started .* ago$/m)
    assert.match(stdout, /^Clipboard +x11$/m)
    assert.match(stdout, /^Item +Image, 1\.2 KiB, .* ago$/m)
    assert.match(stdout, /^Gateway +http:\/\/127\.0\.0\.1:42720$/m)
  })

  it('names the addresses at which devices find what is bound to all of them', async (t) => {
    const listener = { name: 'gateway', urls: ['http://0.0.0.0:42720'], error: undefined } as const
    const run = await beside(t, withStatus(await createFakeAdmin(), { listeners: [listener] }))
    const { stdout } = await run(['status'])
    assert.match(stdout, /^Gateway +http:\/\/[1-9][\d.]+:42720/m)
    assert.deepEqual(JSON.parse((await run(['status', '--json'])).stdout).listeners[0].urls, [
      'http://0.0.0.0:42720',
    ])
  })

  it('tells what is wrong', async (t) => {
    const run = await beside(
      t,
      withStatus(await createFakeAdmin(), {
        clipboardError: 'the display is gone',
        receivedError: '1 item (5 MiB) not saved yet: \u001b',
        devicesError: 'Cannot save /data/devices.json: there is no space left',
        item: undefined,
        startedAt: undefined,
        mode: undefined,
        pid: undefined,
        listeners: [{ name: 'control', urls: ['http://127.0.0.1:1'], error: 'EADDRINUSE \u001b' }],
      }),
    )
    const { stdout } = await run(['status'])
    assert.match(stdout, /^Daemon +clipgate 1\.2\.3, starting, process unknown$/m)
    assert.match(stdout, /^Clipboard +x11: the display is gone$/m)
    assert.match(stdout, /^Received +1 item \(5 MiB\) not saved yet: \\u\{1b\}$/m)
    assert.match(stdout, /^Devices +0; unsaved: Cannot save .*: there is no space left$/m)
    assert.match(stdout, /^Item +none yet$/m)
    assert.match(stdout, /^Control +http:\/\/127\.0\.0\.1:1 failed: EADDRINUSE \\u\{1b\}$/m)
  })

  it('prints everything for scripts, with null for what is absent', async (t) => {
    const run = await beside(t, await createFakeAdmin())
    const { stdout } = await run(['status', '--json'])
    assert.deepEqual(JSON.parse(stdout), {
      ...STATUS,
      storage: { ...STATUS.storage, error: null },
      settings: null,
      clipboardError: null,
      receivedError: null,
      devicesError: null,
      paused: null,
      bus: null,
      tls: null,
      listeners: [{ ...STATUS.listeners[0], error: null }],
    })
  })

  it('tells of the bus, where there is one', async (t) => {
    const bus = {
      urls: ['tls://broker:4222'],
      state: 'waiting',
      error: 'connection refused',
      group: '0123456789abcdef',
      members: 2,
      refused: 3,
    } as const
    const run = await beside(t, {
      ...(await createFakeAdmin()),
      status: async () => ({ ...STATUS, bus }),
    })
    assert.deepEqual(JSON.parse((await run(['status', '--json'])).stdout).bus, bus)
    const { stdout } = await run(['status'])
    const line =
      'Bus        tls://broker:4222, waiting: connection refused; group 0123456789abcdef, 2 other members; 3 signals refused'
    assert.ok(stdout.includes(line), stdout)
  })

  it('tells where HTTPS is served, and what is wrong with its certificate', async (t) => {
    const tls = {
      source: 'files',
      urls: ['https://desk.example:42722'],
      notBefore: '2026-01-01T00:00:00.000Z',
      notAfter: '2026-04-01T00:00:00.000Z',
      fingerprint: 'AB:CD',
      error: 'the key belongs to another certificate',
    } as const
    const listeners = [{ name: 'tls', urls: ['https://0.0.0.0:42722'], error: undefined }] as const
    const status = async () => ({ ...STATUS, listeners, tls })
    const run = await beside(t, { ...(await createFakeAdmin()), status })
    assert.deepEqual(JSON.parse((await run(['status', '--json'])).stdout).tls, tls)
    const paired = JSON.parse((await run(['pair', '--https', '--json'])).stdout)
    assert.equal(paired.url, 'https://desk.example:42722')
    assert.match((await run(['pair', '--https', '--url', 'http://a'])).stderr, /--https with --url/)
    const line =
      'HTTPS      https://desk.example:42722; certificate until 2026-04-01, of the authority AB:CD: the key belongs to another certificate'
    const { stdout } = await run(['status'])
    assert.ok(stdout.includes(line), stdout)
  })

  it('says that no daemon runs', async (t) => {
    const dataDir = join(await temporaryFolder(t), 'data')
    const { code, stdout } = await runCommand(['status', '--data-dir', dataDir])
    assert.equal(code, 3)
    assert.match(
      stdout,
      /^Daemon +not running \(clipgate .*\); start it: clipgate service install/m,
    )
    assert.doesNotMatch(stdout, /^Clipboard/m)
  })
})

describe('clipgate pair, rotate and revoke', () => {
  it('show a password once, and say what happened', async (t) => {
    const admin = await createFakeAdmin()
    const run = await beside(t, admin)
    const paired = await run(['pair', '--username', 'my_phone', '--label', 'Phone'])
    assert.deepEqual([paired.code, paired.stderr], [0, ''])
    assert.match(paired.stdout, /user {6}my_phone\n {2}password {2}[\w-]{22}\n/)
    const rotated = await run(['rotate', 'my_phone'])
    assert.match(rotated.stdout, /user {6}my_phone\n {2}password {2}[\w-]{22}\n/)
    const [device] = admin.registry.list()
    const revoked = await run(['revoke', 'my_phone'])
    assert.equal(revoked.stdout, `${device?.label} is gone; its password does not work any more.\n`)
  })

  it('take a device by its id, the beginning that devices shows, its user name and its label', async (t) => {
    const admin = await createFakeAdmin()
    const run = await beside(t, admin)
    for (const nameOf of [
      (device: DeviceSummary) => device.id,
      (device: DeviceSummary) => device.id.slice(0, 12),
      (device: DeviceSummary) => device.username,
      () => 'My old phone, ü',
      () => 'my OLD phone, Ü',
    ]) {
      await run(['pair', '--username', 'my_phone', '--label', 'My old phone, ü'])
      const [device] = await admin.devices()
      assert.ok(device !== undefined)
      assert.equal((await run(['rotate', nameOf(device)])).code, 0)
      assert.equal((await run(['revoke', nameOf(device)])).code, 0)
      assert.deepEqual(await admin.devices(), [])
    }
  })

  it('touch no device when several have the label, and say which', async (t) => {
    const admin = await createFakeAdmin()
    const run = await beside(t, admin)
    for (const label of ['Phone', 'Phone', 'phone']) await run(['pair', '--label', label])
    const [one, two] = await admin.devices()
    for (const command of ['revoke', 'rotate']) {
      const { code, errors } = await run([command, 'Phone'])
      assert.equal(code, 1)
      assert.equal(
        errors.join(),
        `Cannot tell which device "Phone" is: ${one?.id} (${one?.username}), ${two?.id} ` +
          `(${two?.username}); name it by its id`,
      )
    }
    assert.equal((await run(['revoke', 'phone'])).code, 0)
    assert.deepEqual(await admin.devices(), [one, two])
    assert.match((await run(['revoke', 'did'])).stderr, /Cannot find a device "did"; see/)
  })

  it('show the QR code, and everything that can be typed instead', async (t) => {
    const admin = await createFakeAdmin({ warning: 'Nobody can reach this' })
    const run = await beside(t, admin)
    const { stdout, stderr } = await run(['pair', '--label', 'A\u202eB'], { columns: 80 })
    assert.match(stdout, /^ {2}device {4}A\\u\{202e\}B\n/)
    const [, page, link] = /\n(http:\S+)\n {2}link\n(clip:\S+)\n[^]*▀/.exec(stdout) ?? []
    assert.equal(readScreen(stdout), page)
    assert.equal(page, `http://192.168.1.20:42720/phone#${link?.split('&p=')[1]}`)
    assert.equal(stderr, 'Warning: Nobody can reach this\n')
  })

  it('show no code that would not fit', async (t) => {
    const run = await beside(t, await createFakeAdmin())
    for (const size of [{ columns: 30 }, { columns: 80, rows: 20 }]) {
      const { stdout } = await run(['pair'], size)
      assert.match(stdout, /\nclip:\/\/connect[^]*\nThis window has no room [^]*clipgate\s+panel/)
      assert.doesNotMatch(stdout, /\u001b/)
    }
  })

  // Protocol: for codes in small windows
  it('show a whole code at the end of a window of 80 by 24', async (t) => {
    const run = await beside(t, await createFakeAdmin())
    const args = ['pair', '--username', 'my_phone', '--password-stdin']
    const stdin = 'a pass#word ü 🔑\n'
    const { stdout } = await run(args, { columns: 80, rows: 24, stdin })
    const rows = stdout.split('\n').slice(-24)
    assert.equal(
      readScreen(rows.join('\n')),
      'http://192.168.1.20:42720/phone#my_phone:a%20pass%23word%20%C3%BC%20%F0%9F%94%91',
    )
  })

  it('say below the code what has to be done first, in a window of 80 by 24', async (t) => {
    const window = { columns: 80, rows: 24 }
    const admin = await createFakeAdmin()
    const stopped = await beside(t, withStatus(admin, { running: false }))
    const start = /\nScan this .*\nStart clipgate first: clipgate serve\n$/
    const { stdout } = await stopped(['pair', '--label', 'New'], window)
    assert.match(readScreen(stdout.split('\n').slice(-24).join('\n')), /^http:/)
    assert.match(stdout, start)
    assert.match((await stopped(['rotate', 'New'], window)).stdout, start)

    const url = 'https://192.168.1.20:42722'
    const urls = ['http://127.0.0.1:42720', 'http://192.168.1.20:42720']
    const listeners = [{ name: 'gateway', urls, error: undefined }] as const
    const dates = { notBefore: '2026-01-31T00:00:00.000Z', notAfter: '2027-01-31T00:00:00.000Z' }
    const tls = { source: 'local', urls: [url], ...dates, error: undefined } as const
    for (const fingerprint of ['AB:CD', undefined]) {
      const status = { listeners, tls: { ...tls, fingerprint } } as const
      const run = await beside(t, withStatus(admin, status))
      const secure = (await run(['pair', '--https'], window)).stdout
      assert.match(readScreen(secure.split('\n').slice(-24).join('\n')), /^https:/)
      const [last] = secure.split('\n').slice(-2)
      const trust = 'Trust it first, on the phone: http://192.168.1.20:42720/phone/trust'
      assert.equal(last === trust, fingerprint !== undefined, last)
    }
  })

  it('show the code of the link when asked, for peers, and where there is no page', async (t) => {
    const rows = [
      { args: ['pair', '--qr', 'link'], hasPhonePage: true },
      { args: ['pair', '--kind', 'peer', '--qr', 'link'], hasPhonePage: true },
      { args: ['pair'], hasPhonePage: false },
    ]
    for (const { args, hasPhonePage } of rows) {
      const run = await beside(t, await createFakeAdmin({}, hasPhonePage))
      assert.match(readScreen((await run(args, { columns: 80 })).stdout), /^clip:/)
    }
    const run = await beside(t, await createFakeAdmin())
    const { id } = JSON.parse((await run(['pair', '--json'])).stdout)
    const rotated = await run(['rotate', id, '--qr', 'link'], { columns: 80 })
    assert.match(readScreen(rotated.stdout), /^clip:/)
    assert.equal((await run(['pair', '--qr', 'clip'])).code, 2)
  })

  it('draw nothing where nobody scans it, or no colours are wanted', async (t) => {
    const run = await beside(t, await createFakeAdmin())
    for (const options of [
      {},
      { columns: 80, environment: { NO_COLOR: '1' } },
      { columns: 80, environment: { TERM: 'dumb' } },
    ]) {
      const { stdout } = await run(['pair'], options)
      assert.match(stdout, /\nclip:\/\/connect[^]*\nThe password is shown this once/)
      assert.doesNotMatch(stdout, /\u001b|Scan|window/)
      // Nobody who watches looks for a code in vain.
      assert.equal(/A QR code needs colours/.test(stdout), 'columns' in options)
    }
    const { stdout } = await run(['pair'], { columns: 80, environment: { NO_COLOR: '' } })
    assert.match(stdout, /Scan this with the phone's camera\.\n$/)
  })

  it('say what to type on another computer, which scans nothing', async (t) => {
    const run = await beside(t, await createFakeAdmin())
    for (const options of [{ columns: 80, rows: 24 }, {}]) {
      const { stdout } = await run(['pair', '--kind', 'peer', '--label', 'desk'], options)
      assert.match(stdout, /\nclip:.*\n\n.* On the other computer type "clipgate join", and\npaste/)
      assert.doesNotMatch(stdout, /\u001b|Scan this|QR code/)
    }
  })

  it('are told also where the output cannot be asked what it is, as a pipe on Windows', async (t) => {
    const run = await beside(t, await createFakeAdmin())
    const { code, stdout, stderr } = await run(['pair'], { fd: 1_000_000 })
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(stdout, /clip:/)
  })

  it('say that a file holds a password now, and whether others can read it', async (t) => {
    const run = await beside(t, await createFakeAdmin())
    const folder = await temporaryFolder(t)
    for (const [mode, json, expected] of [
      [0o600, false, /^This file holds a password: delete it/],
      [0o600, true, /^$/],
      [0o640, false, /^Warning: this file holds a password, and others can read it: chmod 600/],
      [0o604, true, /^Warning: this file holds a password, and others can read it: chmod 600/],
    ] as const) {
      const path = join(folder, `link-${mode}-${json}`)
      const file = await open(path, 'w')
      await file.chmod(mode)
      const { stderr, stdout } = await run(['pair', ...(json ? ['--json'] : [])], { fd: file.fd })
      assert.match(stderr, expected)
      assert.match(stdout, /clip:/)
      await file.close()
    }
  })

  it('are never told in an error, whichever link is given where a device is meant', async (t) => {
    const run = await beside(t, await createFakeAdmin())
    const { link, page } = JSON.parse((await run(['pair', '--json'])).stdout)
    for (const given of [link, page, page.replace('//', '/')]) {
      const { stderr } = await run(['revoke', given])
      assert.match(stderr, /\(a connect link\)/)
      assert.ok(!stderr.includes(link.split('&p=')[1]), stderr)
    }
  })

  it('print both links for scripts', async (t) => {
    const run = await beside(t, await createFakeAdmin())
    const { link, page } = JSON.parse((await run(['pair', '--json'])).stdout)
    assert.equal(page, `http://192.168.1.20:42720/phone#${link.split('&p=')[1]}`)
    assert.equal(JSON.parse((await run(['pair', '--json', '--kind', 'peer'])).stdout).page, null)
  })

  it('take a password from stdin, and never print it anywhere else', async (t) => {
    const run = await beside(t, await createFakeAdmin())
    const args = ['pair', '--json', '--kind', 'peer', '--password-stdin']
    const paired = await run(args, { stdin: 'my own pässword\r\nmore\n' })
    assert.deepEqual(
      [JSON.parse(paired.stdout).password, JSON.parse(paired.stdout).kind],
      ['my own pässword', 'peer'],
    )
    const refused = await run(args, { stdin: 'sh0rt\n' })
    assert.deepEqual([refused.code, refused.stdout, refused.errors.length], [1, '', 1])
    assert.doesNotMatch(refused.stderr, /sh0rt/)
    assert.match((await run(args, { stdin: '' })).stderr, /there is none on stdin/)
  })

  it('put the URL into the link that they are told', async (t) => {
    const run = await beside(t, await createFakeAdmin({ warning: 'nobody can reach this' }))
    const told = await run(['pair', '--json', '--url', 'https://clip.example/x/'])
    assert.equal(JSON.parse(told.stdout).url, 'https://clip.example/x')
    assert.equal(told.stderr, '')
    assert.equal((await run(['pair', '--json'])).stderr, 'Warning: nobody can reach this\n')
  })

  it('exit with 1 and one line about what cannot be', async (t) => {
    const run = await beside(t, await createFakeAdmin())
    await run(['pair', '--username', 'my_phone'])
    const failures: readonly (readonly [readonly string[], RegExp])[] = [
      [['rotate', 'nobody'], /^Cannot find a device "nobody"; see "clipgate devices"$/],
      [['revoke', 'a\u001bb'], /^Cannot find a device "a\\u\{1b\}b"/],
      [
        ['pair', '--username', 'my_phone'],
        /^Cannot use the user name "my_phone".*choose another one$/,
      ],
      [['pair', '--username', '1'], /^Cannot use the user name/],
      [['pair', '--label', ''], /^Cannot use the label/],
      [['pair', '--url', `http://h/${'x'.repeat(900)}`], /longer than 800 characters/],
    ]
    for (const [args, message] of failures) {
      const { code, stdout, errors } = await run(args)
      assert.deepEqual([code, stdout, errors.length], [1, '', 1], args.join(' '))
      assert.match(errors[0] ?? '', message)
    }
  })

  it('leave no device behind whose password nobody was shown', async (t) => {
    const admin = await createFakeAdmin()
    const run = await beside(t, admin)
    for (const args of [['pair'], ['pair', '--json']]) {
      for (const unprintable of ['ENOSPC', 'EPIPE']) {
        const { code, errors } = await run(args, { unprintable })
        const line = `Cannot show the device that was paired: ${unprintable}; it was removed again`
        assert.deepEqual([code, errors], [1, [line]])
      }
    }
    assert.deepEqual(admin.registry.list(), [])
  })

  it('fail when a removal counts, but a restart would undo it, and say so', async (t) => {
    const admin = await createFakeAdmin()
    const unsaved = 'Cannot save devices.json: there is no space left'
    const revoke = async (id: string) => ({ ...(await admin.revoke(id)), unsaved })
    const full = { ...admin, revoke }
    const run = await beside(t, full)
    for (const json of [[], ['--json']]) {
      const { device } = await admin.registry.add({ kind: 'phone' })
      const { code, stdout, stderr } = await run(['revoke', ...json, device.id])
      assert.equal(code, 1)
      if (json.length === 0) assert.match(stdout, /^Phone is gone/)
      else assert.deepEqual(JSON.parse(stdout), { id: device.id, unsaved })
      assert.match(stderr, /space left\. The device is shut out all the same, until the daemon is/)
    }
    const paired = await run(['pair', '--json'], { unprintable: 'ENOSPC' })
    assert.match(
      paired.stderr,
      /it was removed again, but Cannot save .*: there is no space left\n$/,
    )
  })

  it('say what to do when nobody was shown a password, and it cannot be undone', async (t) => {
    const admin = await createFakeAdmin()
    const stuck = { ...admin, revoke: () => Promise.reject(new Error('the disk is full')) }
    const run = await beside(t, stuck)
    const paired = await run(['pair', '--json'], { unprintable: 'ENOSPC' })
    const [device] = admin.registry.list()
    assert.match(paired.stderr, new RegExp(`ENOSPC; remove it: clipgate revoke ${device?.id}\n$`))
    const rotated = await run(['rotate', `${device?.id}`], { unprintable: 'ENOSPC' })
    assert.deepEqual([rotated.code, rotated.errors.length], [1, 1])
    assert.match(rotated.stderr, /ENOSPC; the old one fails already: rotate again\n$/)
  })

  it('warn when the port is not known before the daemon runs', async (t) => {
    const dataDir = join(await temporaryFolder(t), 'data')
    const args = ['pair', '--json', '--data-dir', dataDir, '--listen', '127.0.0.1:0']
    const { code, stderr, stdout } = await runCommand(args)
    assert.deepEqual([code, stdout.split('\n').length], [0, 2])
    assert.match(stderr, /^Warning: The port of the gateway is picked at its start/)
  })
})
