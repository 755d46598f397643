import assert from 'node:assert/strict'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Finding } from '../../src/doctor/finding.ts'
import type { DiskNumbers } from '../../src/doctor/situation.ts'
import type { DaemonStatus } from '../../src/ports/admin.ts'
import { FakeWayland } from '../desktop/wayland/support/fake-wayland.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { STATUS } from '../support/fake-admin.ts'
import { holdDataDirectory } from '../support/held-data-directory.ts'
import { HubClient } from '../support/hub-client.ts'
import { listen } from '../support/listen.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Xvfb } from '../support/xvfb.ts'
import { MACHINE, show } from './support/examine-site.ts'
import {
  besideDaemon,
  check,
  GIB,
  interfaces,
  ROOMY,
  type Surroundings,
} from './support/well-machine.ts'

const disk = (numbers: Partial<DiskNumbers>) => async () => ({ ...ROOMY, ...numbers })

const openFiles = (count: number) => ({
  'proc/self/limits': `Max open files            ${count}                 ${count}  files\n`,
})

const LOOPBACK = { listen: ['127.0.0.1:0'] }
const HEADLESS = { ...LOOPBACK, headless: true }
// No system gives connections that port by itself.
const LISTENING = { listen: ['0.0.0.0:65427'] }
const SECURE = { ...LISTENING, tls: 'local', tlsListen: ['0.0.0.0:65428'] }
const ELSEWHERE = { listen: ['192.0.2.7:0'] }
const ONE = { listen: ['192.168.1.20:0'] }
const SEVERAL = interfaces({ eth0: '192.168.1.20', wlan0: '10.1.2.3' })
const TUNNEL = interfaces({ eth0: '192.168.1.20', tun0: '10.8.0.2' })
const IPV6 = interfaces({ eth0: 'fd00::2' })
const UFW = 'etc/ufw/ufw.conf'
const FIREWALLD = 'sys/fs/cgroup/system.slice/firewalld.service/x'
const NFTABLES = 'etc/systemd/system/sysinit.target.wants/nftables.service'
const X11 = { clipboard: 'x11' }
const ANY_CLIPBOARD = { clipboard: undefined }
const WAYLAND = { WAYLAND_DISPLAY: 'wayland-0', XDG_RUNTIME_DIR: '/nonexistent' }
const NO_MINIMUM = { minFreeBytes: '0' }
const BROKEN = Object.assign(new Error('x'), { code: 'EIO', syscall: 'statfs' })

type Row = readonly [surroundings: Surroundings, said: RegExp]

/** By the sentence that a check holds: its name, and what it says in which surroundings. */
const CHECKS: Readonly<Record<string, readonly [check: string, ...rows: readonly Row[]]>> = {
  'finds an address that is not here': [
    'listening',
    [{ options: ELSEWHERE }, /^PROBLEM 192\.0\.2\.7:0 is no address of this machine -> .*--listen/],
  ],
  'finds that no phone can reach this machine': [
    'addresses',
    [{ interfaces: () => ({}) }, /^PROBLEM .*no LAN address.* -> connect this machine/],
    [{ options: LOOPBACK }, /^PROBLEM .*on this machine only.* -> .*--listen 0\.0\.0\.0/],
    [{ interfaces: interfaces({ docker0: '172.17.0.1' }) }, /^PROBLEM/],
  ],
  'takes a headless node on loopback for what it is': [
    'addresses',
    [{ options: HEADLESS }, /^hint .*as usual for a headless node -> .*--public-url/],
  ],
  'judges the public URL': [
    'addresses',
    [{ options: { publicUrl: 'http://203.0.113.7' } }, /^PROBLEM .*in the clear -> .*https/],
    [{ options: { publicUrl: 'http://localhost:1' } }, /^PROBLEM .*each phone .*--public-url/],
    [
      { options: { publicUrl: 'https://clip.example.net' } },
      /^hint .*clip\.example\.net -> .*--through https:\/\/clip\.example\.net$/,
    ],
    [
      { options: { publicUrl: 'http://192.168.1.99:42720' } },
      /^hint .*does not belong to this machine, which has 192\.168\.1\.20 -> leave .*rotate ID/,
    ],
    [
      { options: { publicUrl: 'http://192.168.1.20:42720' } },
      /^hint links name http:\/\/192\.168\.1\.20:42720 -> see whether all gets through/,
    ],
    [{ options: { allowPublic: true } }, /^hint .*without TLS -> .*--allow-public/],
  ],
  'tells of several networks, of VPNs, and of IPv6 alone': [
    'addresses',
    [{ interfaces: SEVERAL }, /^hint .* also 10\.1\.2\.3 -> .*pair --url http:\/\/10\.1/],
    [{ interfaces: SEVERAL, options: ONE }, /^ok links name http:\/\/192\.168\.1\.20:0$/],
    [{ interfaces: TUNNEL, sourceAddress: async () => '10.8.0.2' }, /^hint .*VPN tun0 -> .*LAN/],
    [{ interfaces: IPV6, options: { listen: ['[::]:0'] } }, /^hint .*no IPv4 address.* -> .*IPv4/],
  ],
  'names the firewall, and the command that lets phones in': [
    'firewall',
    [
      { files: { [UFW]: 'ENABLED=yes\n' }, options: LISTENING },
      /^hint .*cannot be seen.* -> sudo ufw allow 65427\/tcp$/,
    ],
    [
      { files: { [FIREWALLD]: '' }, options: LISTENING },
      /^hint firewalld runs.* -> .*--add-port=65427\/tcp/,
    ],
    [{ files: { [NFTABLES]: '' }, options: LISTENING }, /^hint nftables.* tcp dport 65427 accept$/],
    [{ platform: 'darwin', options: LISTENING }, /^hint macOS.* -> .*Firewall/],
    [{ platform: 'win32', options: LISTENING }, /^hint Windows.* -> .*localport=65427/],
    [{ files: { [UFW]: 'ENABLED=no\n' }, options: LISTENING }, /^ok neither ufw/],
    [
      { files: { [UFW]: 'ENABLED=yes\n' }, options: SECURE },
      / -> sudo ufw allow 65427,65428\/tcp$/,
    ],
    [
      { files: { [FIREWALLD]: '' }, options: SECURE },
      / --add-port=65427\/tcp --add-port=65428\/tcp /,
    ],
    [{ files: { [NFTABLES]: '' }, options: SECURE }, / tcp dport \{ 65427, 65428 \} accept$/],
    [{ options: HEADLESS }, /^ok .*loopback only$/],
  ],
  'finds why there would be no clipboard': [
    'clipboard',
    [{ options: X11 }, /^PROBLEM .*DISPLAY is not set -> .*--headless/],
    [
      { options: ANY_CLIPBOARD, environment: WAYLAND },
      /^PROBLEM wayland on wayland-0 cannot be used: .* -> .*WAYLAND_DISPLAY/,
    ],
    [
      { options: X11, environment: { DISPLAY: ':59999' } },
      /^PROBLEM x11 on :59999 cannot be used: .* -> .*XAUTHORITY/,
    ],
    [{ options: ANY_CLIPBOARD }, /^PROBLEM neither WAYLAND_DISPLAY nor DISPLAY is set.*--headless/],
  ],
  'finds a clock that cannot be right': [
    'clock',
    [{ now: () => 0 }, /^PROBLEM .*1970-01-01 00:00 UTC.* -> .*set-ntp/],
    [{}, /^ok .*UTC; whether it is right cannot be seen from here$/],
  ],
  'finds a full disk': [
    'disk',
    [{ statfs: disk({ bavail: 100 }) }, /^PROBLEM 400 KiB free .* below 256 MiB.*--min-free-bytes/],
    [{ statfs: disk({ bavail: 0 }), options: NO_MINIMUM }, /^PROBLEM 0 bytes free.* -> make room/],
    [{ statfs: disk({ ffree: 12 }) }, /^PROBLEM .*only 12 more files.* -> delete/],
    [{ statfs: disk({ files: 0, ffree: 0 }) }, /^ok 100 GiB free/],
    [{ statfs: disk({ bavail: GIB / 4096 }) }, /^hint .*10 GiB, the largest .* would not fit/],
  ],
  'finds too few open files': [
    'descriptors',
    [{ files: openFiles(128) }, /^PROBLEM .*room for 32 connections -> .*LimitNOFILE/],
    [{ files: openFiles(4096) }, /^hint .*1024 connections, and not 4096.* -> .*16384/],
    [{ files: openFiles(16_384) }, /^ok .*4096 connections$/],
  ],
  'finds too little memory': [
    'memory',
    [{ availableMemory: () => 50 * 1024 ** 2 }, /^PROBLEM 50 MiB available.*--verify-workers/],
    [
      { availableMemory: () => 970 * 1024 ** 2, options: { verifyWorkers: '13' } },
      /^hint .*up to 962 MiB -> .*--verify-workers/,
    ],
  ],
  'makes a finding of a check that fails': [
    'disk',
    [{ statfs: () => Promise.reject(BROKEN) }, /^PROBLEM cannot be checked: EIO \(statfs\) -> /],
  ],
}

describe('clipgate doctor, before a start', () => {
  for (const [name, [finding, ...rows]] of Object.entries(CHECKS)) {
    it(name, async (t) => {
      for (const [surroundings, said] of rows) {
        ;(await check(t, surroundings)).expect(finding, said)
      }
    })
  }

  it('finds nothing wrong where nothing is, and makes nothing', async (t) => {
    const folder = await temporaryFolder(t)
    const findings = await check(t, { dataDir: join(folder, 'a', 'b') })
    findings.expect('daemon', /^hint .*does not run.* -> clipgate serve$/)
    findings.expect('devices', /^hint none.* -> clipgate pair/)
    findings.expect('data-directory', /^ok .*is made by the first start$/)
    await assert.rejects(() => mkdir(join(folder, 'a', 'b')), { code: 'ENOENT' })
  })

  it('finds a data directory that cannot be used', async (t) => {
    const folder = await temporaryFolder(t)
    const [file, shared] = [join(folder, 'file'), join(folder, 'shared')]
    await writeFile(file, '')
    const below = await check(t, { dataDir: file })
    below.expect('data-directory', /^PROBLEM .*is not a folder -> .*--data-dir/)
    await mkdir(shared)
    await chmod(shared, 0o1777)
    const open = await check(t, { dataDir: shared })
    open.expect('data-directory', /^PROBLEM .*shared with other users -> .*--data-dir/)
  })

  for (const [what, file, content, finding, said] of [
    [
      'an item',
      'item.json',
      '{"text":"hunter2',
      'data-directory',
      /^PROBLEM .* is damaged.* -> .*move .* away/,
    ],
    ['devices', 'devices.json', '["hunter2"]', 'devices', /^PROBLEM .*devices\.json/],
    ['a lock', 'lock', 'hunter2', 'daemon', /^PROBLEM .*no lock of ours/],
  ] as const) {
    it(`finds ${what} that a start could not read, and does not quote it`, async (t) => {
      const dataDir = await temporaryFolder(t)
      await writeFile(join(dataDir, file), content)
      const findings = await check(t, { dataDir })
      findings.expect(finding, said)
      assert.doesNotMatch(show(findings.all), /hunter2/)
    })
  }

  it('finds a port that somebody has, and says how to see who', async (t) => {
    const port = await listen(t, createServer())
    const here = `127.0.0.1:${port}`
    const rows: readonly (readonly [Surroundings, string])[] = [
      [{ options: { listen: [here], headless: true } }, 'ss -ltnp sport = :PORT\\).*--listen$'],
      [{ options: { control: here } }, '--control$'],
      [{ options: { tls: 'local', tlsListen: [here] } }, '--tls-listen$'],
      [{ options: { control: here }, platform: 'darwin' }, 'lsof .* -iTCP:PORT\\)'],
    ]
    for (const [surroundings, fix] of rows) {
      const said = `^PROBLEM .*:PORT is taken by another program -> .*${fix}`
      const findings = await check(t, surroundings)
      findings.expect('listening', new RegExp(said.replaceAll('PORT', String(port))))
    }
  })

  it('knows from which address of this machine packets leave, if from any', async () => {
    const source = await MACHINE.sourceAddress()
    const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
    assert.ok(source === undefined || own.some(({ address }) => address === source), source)
  })

  it('finds a clipboard that can be used, and leaves it alone', needs('Xvfb'), async (t) => {
    const { display } = await Xvfb.start(t)
    const environment = { DISPLAY: display }
    const findings = await check(t, { options: { clipboard: 'x11' }, environment })
    findings.expect('clipboard', new RegExp(`^ok x11 on ${display} would be used`))
    const { env } = await FakeWayland.start(t, ['wl_seat', 'zwlr_data_control_manager_v1'])
    const beside = { options: { clipboard: 'x11' }, environment: { ...environment, ...env } }
    const kept = /^hint x11 .* the Wayland compositor may hide .* -> .* without --clipboard$/
    ;(await check(t, beside)).expect('clipboard', kept)
  })

  it('finds a folder that cannot take pushed files', async (t) => {
    const folder = await temporaryFolder(t)
    const [file, open] = [join(folder, 'file'), join(folder, 'open')]
    await writeFile(file, '')
    await mkdir(open)
    await chmod(open, 0o777)
    for (const [receivedDir, detail] of [
      [file, /it is not a folder/],
      [open, /can be changed by every user/],
    ] as const) {
      const findings = await check(t, { options: { clipboard: 'x11', receivedDir } })
      const { ok, detail: told, fix = '' } = findings.of('received-folder')
      assert.deepEqual([ok, detail.test(told), /--received-dir/.test(fix)], [false, true, true])
    }
  })
})

describe('clipgate doctor, beside a daemon', () => {
  it('asks each address that a link may name', async (t) => {
    const daemon = await startDaemonProcess(t, {
      args: ['--listen', '0.0.0.0:0', '--clipboard', 'none'],
      devices: ['Phone'],
    })
    const dataDir = join(daemon.folder, 'data')
    const findings = await check(t, { dataDir, interfaces: networkInterfaces })
    const { port } = new URL(daemon.ready.gateway)
    const { ok, detail } = findings.of('listening')
    assert.match(detail, new RegExp(`^answers at 127\\.0\\.0\\.1:${port}\\b`))
    assert.deepEqual([ok, findings.of('daemon').ok], [true, true])

    const status = { name: 'gateway', urls: ['http://127.0.0.1:1'], error: undefined } as const
    const silent = await besideDaemon(t, { listeners: [status] })
    const finding = (await check(t, { dataDir: silent.dataDir })).of('listening')
    assert.match(finding.detail, /127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)$/)
    assert.match(finding.fix ?? '', /start the daemon again/)
  })

  it('tells of the daemon and its devices', async (t) => {
    const { dataDir, registry } = await besideDaemon(t, {})
    const unseen = await check(t, { dataDir })
    assert.match(unseen.of('daemon').detail, /clipgate 1\.2\.3 runs, desktop, process 4711; this/)
    assert.match(unseen.of('devices').fix ?? '', /clipgate revoke/)

    const [device] = registry.list()
    const sighting = { at: Date.now(), address: undefined, client: undefined }
    registry.noteSighting(device?.id ?? '', sighting)
    assert.equal((await check(t, { dataDir })).of('devices').detail, '1 paired')
    await registry.revoke('my_phone')
    const none = await check(t, { dataDir })
    assert.deepEqual(none.of('devices'), {
      check: 'devices',
      ok: false,
      detail: 'none is paired',
      fix: 'clipgate pair',
    })
  })

  it('knows without the daemon, too, that a device was seen', async (t) => {
    const daemon = await startDaemonProcess(t, {
      args: ['--clipboard', 'none'],
      devices: ['Phone'],
    })
    const phone = createPhone(await daemon.pair('Phone'), daemon.ready.gateway)
    await phone.document()
    await daemon.stop()
    const { detail } = (await check(t, { dataDir: join(daemon.folder, 'data') })).of('devices')
    assert.equal(detail, '1 paired')
  })

  it('names a device that as many programs use at once as may', async (t) => {
    const daemon = await startDaemonProcess(t, {
      args: ['--clipboard', 'none'],
      devices: ['Phone'],
    })
    const device = await daemon.pair('Phone')
    const { authorization } = createPhone(device, daemon.ready.gateway)
    const port = Number(new URL(daemon.ready.gateway).port)
    const programs = async (count: number): Promise<Finding> => {
      for (let opened = 0; opened < count; opened++) {
        await HubClient.open(t, { port, authorization })
      }
      return (await check(t, { dataDir: join(daemon.folder, 'data') })).of('devices')
    }
    assert.equal((await programs(15)).fix, undefined)
    const { ok, detail, fix = '' } = await programs(1)
    assert.equal(ok, true)
    assert.match(
      detail,
      /^1 paired; \w+ is used by 16 programs at once; one more puts another out$/,
    )
    assert.match(fix, /^pair each of them: clipgate pair$/)
  })

  it('tells what the daemon says is wrong', async (t) => {
    const error = 'something else listens there already'
    const rows: readonly (readonly [string, Partial<DaemonStatus>, RegExp])[] = [
      ['listening', { listeners: [{ name: 'gateway', urls: [], error }] }, new RegExp(error)],
      ['clipboard', { clipboardError: 'the display is gone' }, /^x11: the display is gone$/],
      ['disk', { storage: { ...STATUS.storage, stagedBytes: 19 * GIB } }, /19 GiB of 20 GiB/],
    ]
    for (const [name, status, expected] of rows) {
      const { dataDir } = await besideDaemon(t, status)
      const { ok, detail } = (await check(t, { dataDir })).of(name)
      assert.deepEqual([ok, expected.test(detail)], [false, true], detail)
    }
  })

  it('tells a headless node from a desktop without its clipboard', async (t) => {
    const { dataDir } = await besideDaemon(t, { mode: 'headless', clipboard: 'none' })
    const options = { clipboard: 'x11' }
    const clipboard = async (call: string | undefined, environment = '') => {
      const proc = `proc/${process.pid}`
      const files =
        call === undefined ? {} : { [`${proc}/cmdline`]: call, [`${proc}/environ`]: environment }
      const { ok, fix } = (await check(t, { dataDir, options, files })).of('clipboard')
      return ok ? (fix === undefined ? 'fine' : 'hint') : 'problem'
    }
    assert.equal(await clipboard('node\0main.js\0serve\0--headless\0'), 'fine')
    assert.equal(await clipboard('node\0main.js\0serve\0', 'A=1\0CLIPGATE_HEADLESS=true\0'), 'fine')
    assert.equal(await clipboard('node\0main.js\0serve\0'), 'problem')
    assert.equal(await clipboard(undefined), 'hint')
  })

  it('finds that the clock went back since something was copied', async (t) => {
    const { dataDir } = await besideDaemon(t, {})
    const findings = await check(t, { dataDir, now: () => Date.UTC(2025, 5, 1) })
    assert.match(findings.of('clock').detail, /before times that the daemon has noted/)
  })

  it('looks at what a start without a desktop would listen on: loopback alone', async (t) => {
    const options = { clipboard: undefined, listen: undefined }
    const found = await check(t, { options })
    assert.match(
      found.of('addresses').detail,
      /^links name http:\/\/127\.0\.0\.1:42720, .*headless/,
    )
    assert.match(found.of('firewall').detail, /listens on loopback only/)
    assert.doesNotMatch(show(found.all), /0\.0\.0\.0|\[::\]/)
  })

  it('says that links name an address that this machine lost, and what to do', async (t) => {
    const listeners = [
      { name: 'gateway', urls: ['http://192.168.1.20:42720'], error: undefined },
    ] as const
    const { dataDir } = await besideDaemon(t, { listeners, lostUrls: ['http://192.168.1.9:42720'] })
    const { ok, detail, fix } = (await check(t, { dataDir })).of('addresses')
    const said = /^true .*192\.168\.1\.9:42720, .*reserve .*rotate/
    assert.match(`${ok} ${detail} -> ${fix}`, said)
    const options = { publicUrl: 'https://clip.example.net' }
    const proxied = (await check(t, { dataDir, options })).of('addresses')
    assert.match(`${proxied.ok} ${proxied.detail} -> ${proxied.fix}`, said)
  })

  it('finds another program where the gateway should be', async (t) => {
    const server = createServer((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
    )
    const port = await listen(t, server)
    const urls = [`http://127.0.0.1:${port}`]
    const status = { listeners: [{ name: 'gateway', urls, error: undefined }] } as const
    const { dataDir } = await besideDaemon(t, status)
    const finding = (await check(t, { dataDir })).of('listening')
    assert.deepEqual([finding.ok, /as another program would/.test(finding.detail)], [false, true])
  })

  it('finds a daemon that does not answer', async (t) => {
    const { dataDir, directory } = await holdDataDirectory(t)
    const notReady = await check(t, { dataDir })
    notReady.expect('daemon', /^PROBLEM .*is not ready yet/)
    await directory.announce({ control: 'http://127.0.0.1:1' })
    const gone = await check(t, { dataDir })
    gone.expect('daemon', /^PROBLEM .*Cannot reach the daemon/)
  })
})
