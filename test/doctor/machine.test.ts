import assert from 'node:assert/strict'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { ownSurroundings } from '../../src/daemon/folders.ts'
import { loadSettings } from '../../src/daemon/load-settings.ts'
import type { NetworkInterfaces } from '../../src/daemon/addresses.ts'
import type { Admin, DaemonStatus } from '../../src/ports/admin.ts'
import { checkMachine } from '../../src/doctor/check-machine.ts'
import type { Finding } from '../../src/doctor/finding.ts'
import type { DiskNumbers, Machine } from '../../src/doctor/machine.ts'
import { readSituation } from '../../src/doctor/situation.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { createFakeAdmin, STATUS } from '../support/fake-admin.ts'
import { holdDataDirectory, serveControl } from '../support/held-data-directory.ts'
import { listen } from '../support/listen.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Xvfb } from '../support/xvfb.ts'
import { MACHINE, problemsOf, show } from './support/examine-site.ts'

const GIB = 1024 ** 3

const ROOMY: DiskNumbers = { bsize: 4096, bavail: (100 * GIB) / 4096, files: 1e6, ffree: 1e6 }

const LAN: NetworkInterfaces = { eth0: [{ address: '192.168.1.20', internal: false, cidr: null }] }

interface Surroundings extends Partial<Machine> {
  readonly options?: Readonly<Record<string, unknown>>
  readonly dataDir?: string
  /** Files of the system, by their path below `/`. */
  readonly files?: Readonly<Record<string, string>>
}

/** What the doctor says of a machine where all is well but for this. */
async function check(t: TestContext, surroundings: Surroundings = {}): Promise<Findings> {
  const { options = {}, dataDir, files = {}, ...machine } = surroundings
  const folder = await temporaryFolder(t)
  const root = join(folder, 'root')
  await mkdir(root)
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  const where = { ...ownSurroundings(), environment: {}, home: folder }
  const settings = loadSettings({
    options: {
      dataDir: dataDir ?? join(folder, 'data'),
      receivedDir: join(folder, 'received'),
      clipboard: 'none',
      control: '127.0.0.1:0',
      listen: ['0.0.0.0:0'],
      ...options,
    },
    where,
    cwd: folder,
  })
  const logger = new CaptureLogger()
  const situation = await readSituation(
    settings,
    {
      platform: 'linux',
      environment: {},
      root,
      interfaces: () => LAN,
      sourceAddress: async () => '192.168.1.20',
      statfs: async () => ROOMY,
      now: () => Date.now(),
      availableMemory: () => GIB,
      ...machine,
    },
    logger,
  )
  try {
    return new Findings(await checkMachine(situation, logger))
  } finally {
    await situation.daemon?.admin.close()
  }
}

class Findings {
  readonly all: readonly Finding[]

  constructor(all: readonly Finding[]) {
    this.all = all
  }

  get problems(): readonly string[] {
    return problemsOf(this.all)
  }

  /** What was said about one thing. */
  of(check: string): Finding {
    const finding = this.all.find((candidate) => candidate.check === check)
    assert.ok(finding !== undefined, `no ${check}:\n${show(this.all)}`)
    return finding
  }

  /** Fails unless this is the one problem, and its fix says so. */
  expectOnly(check: string, detail: RegExp, fix: RegExp): void {
    assert.deepEqual(this.problems, [check], show(this.all))
    assert.match(this.of(check).detail, detail)
    assert.match(this.of(check).fix ?? '', fix)
  }

  expectHint(check: string, detail: RegExp, fix: RegExp): void {
    assert.deepEqual(this.problems, [], show(this.all))
    assert.match(this.of(check).detail, detail)
    assert.match(this.of(check).fix ?? '', fix)
  }

  expectFine(check: string, detail: RegExp): void {
    assert.match(this.of(check).detail, detail)
    assert.deepEqual([this.of(check).ok, this.of(check).fix], [true, undefined])
  }
}

/** Takes a data directory like a daemon whose owner hears this. */
async function besideDaemon(t: TestContext, status: Partial<DaemonStatus>, admin?: Partial<Admin>) {
  const held = await holdDataDirectory(t)
  const fake = createFakeAdmin()
  await fake.registry.add({ kind: 'phone', username: 'my_phone' })
  const changed = async () => ({ ...STATUS, listeners: [], ...status })
  await serveControl(t, held, { ...fake, status: changed, ...admin })
  return { dataDir: held.dataDir, registry: fake.registry }
}

describe('clipgate doctor, before a start', () => {
  it('finds nothing wrong where nothing is, and makes nothing', async (t) => {
    const folder = await temporaryFolder(t)
    const findings = await check(t, { dataDir: join(folder, 'a', 'b') })
    assert.deepEqual(findings.problems, [], show(findings.all))
    findings.expectHint('daemon', /does not run/, /^clipgate serve$/)
    findings.expectHint('devices', /none/, /clipgate pair/)
    findings.expectFine('data-directory', /is made by the first start$/)
    await assert.rejects(() => mkdir(join(folder, 'a', 'b')), { code: 'ENOENT' })
  })

  it('finds a data directory that cannot be used', async (t) => {
    const folder = await temporaryFolder(t)
    const file = join(folder, 'file')
    await writeFile(file, '')
    const below = await check(t, { dataDir: file })
    below.expectOnly('data-directory', /is not a folder/, /--data-dir/)

    const shared = join(folder, 'shared')
    await mkdir(shared)
    await chmod(shared, 0o1777)
    const open = await check(t, { dataDir: shared })
    open.expectOnly('data-directory', /shared with other users/, /--data-dir/)
  })

  it('finds an item that stops a start, and does not quote it', async (t) => {
    const dataDir = await temporaryFolder(t)
    await writeFile(join(dataDir, 'item.json'), '{"text":"hunter2')
    const findings = await check(t, { dataDir })
    findings.expectOnly('data-directory', /item\.json is damaged/, /move .* away/)
    assert.doesNotMatch(show(findings.all), /hunter2/)
  })

  it('finds devices that stop a start', async (t) => {
    const dataDir = await temporaryFolder(t)
    await writeFile(join(dataDir, 'devices.json'), '[]')
    const findings = await check(t, { dataDir })
    findings.expectOnly('devices', /devices\.json/, /./)
  })

  it('finds a lock that is none of ours', async (t) => {
    const dataDir = await temporaryFolder(t)
    await writeFile(join(dataDir, 'lock'), 'nonsense')
    const findings = await check(t, { dataDir })
    findings.expectOnly('daemon', /no lock of ours/, /./)
  })

  it('finds a port that somebody has, and says how to see who', async (t) => {
    const port = await listen(t, createServer())
    const ofGateway = await check(t, { options: { listen: [`127.0.0.1:${port}`], headless: true } })
    const taken = new RegExp(`:${port} is taken by another program$`)
    ofGateway.expectOnly('listening', taken, new RegExp(`ss -ltnp sport = :${port}\\).*--listen$`))
    const control = await check(t, { options: { control: `127.0.0.1:${port}` } })
    control.expectOnly('listening', taken, /--control/)
    const options = { control: `127.0.0.1:${port}` }
    const onMac = await check(t, { options, platform: 'darwin' })
    assert.match(onMac.of('listening').fix ?? '', new RegExp(`lsof .* -iTCP:${port}\\)`))
  })

  it('finds an address that is not here', async (t) => {
    const findings = await check(t, { options: { listen: ['192.0.2.7:0'] } })
    findings.expectOnly('listening', /192\.0\.2\.7:0 is no address of this machine/, /--listen/)
  })

  it('finds that no phone can reach this machine', async (t) => {
    const none = await check(t, { interfaces: () => ({}) })
    none.expectOnly('addresses', /no LAN address/, /connect this machine/)
    const loopback = await check(t, { options: { listen: ['127.0.0.1:0'] } })
    loopback.expectOnly('addresses', /listens on this machine only/, /--listen 0\.0\.0\.0/)
    const docker = { docker0: [{ address: '172.17.0.1', internal: false, cidr: null }] }
    const bridge = await check(t, { interfaces: () => docker })
    assert.deepEqual(bridge.problems, ['addresses'])
  })

  it('takes a headless node on loopback for what it is', async (t) => {
    const findings = await check(t, { options: { headless: true, listen: ['127.0.0.1:0'] } })
    findings.expectHint('addresses', /as usual for a headless node/, /--public-url/)
  })

  it('judges the public URL', async (t) => {
    const clear = await check(t, { options: { publicUrl: 'http://203.0.113.7' } })
    clear.expectOnly('addresses', /in the clear/, /https/)
    const own = await check(t, { options: { publicUrl: 'http://localhost:1' } })
    own.expectOnly('addresses', /each phone itself/, /--public-url/)
    const good = await check(t, { options: { publicUrl: 'https://clip.example.net' } })
    good.expectHint('addresses', /clip\.example\.net/, /--through https:\/\/clip\.example\.net$/)
    const open = await check(t, { options: { allowPublic: true } })
    open.expectHint('addresses', /without TLS/, /--allow-public/)
  })

  it('tells of several networks, of VPNs, and of IPv6 alone', async (t) => {
    const wifi = [{ address: '10.1.2.3', internal: false, cidr: null }]
    const several = await check(t, { interfaces: () => ({ ...LAN, wlan0: wifi }) })
    several.expectHint(
      'addresses',
      /this machine is also 10\.1\.2\.3$/,
      /pair --url http:\/\/10\.1/,
    )
    const one = await check(t, {
      interfaces: () => ({ ...LAN, wlan0: wifi }),
      options: { listen: ['192.168.1.20:0'] },
    })
    one.expectFine('addresses', /^links name http:\/\/192\.168\.1\.20:0$/)

    const tunnel = { tun0: [{ address: '10.8.0.2', internal: false, cidr: null }] }
    const interfaces = () => ({ ...LAN, ...tunnel })
    const vpn = await check(t, { interfaces, sourceAddress: async () => '10.8.0.2' })
    vpn.expectHint('addresses', /VPN tun0/, /LAN/)

    const ipv6 = { eth0: [{ address: 'fd00::2', internal: false, cidr: null }] }
    const only = await check(t, { interfaces: () => ipv6, options: { listen: ['[::]:0'] } })
    only.expectHint('addresses', /no IPv4 address/, /IPv4/)
  })

  it('knows from which address of this machine packets leave, if from any', async () => {
    const source = await MACHINE.sourceAddress()
    const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
    assert.ok(source === undefined || own.some(({ address }) => address === source), source)
  })

  it('names the firewall, and the command that lets phones in', async (t) => {
    const unit = 'etc/systemd/system/sysinit.target.wants/nftables.service'
    const options = { listen: ['0.0.0.0:42720'] }
    const hints: readonly (readonly [Surroundings, RegExp, RegExp])[] = [
      [
        { files: { 'etc/ufw/ufw.conf': 'ENABLED=yes\n' } },
        /cannot be seen/,
        /^sudo ufw allow 42720\/tcp$/,
      ],
      [
        { files: { 'sys/fs/cgroup/system.slice/firewalld.service/x': '' } },
        /firewalld runs/,
        /--add-port=42720\/tcp/,
      ],
      [{ files: { [unit]: '' } }, /nftables/, /tcp dport 42720 accept/],
      [{ platform: 'darwin' }, /macOS/, /Firewall/],
      [{ platform: 'win32' }, /Windows/, /localport=42720/],
    ]
    for (const [surroundings, detail, fix] of hints) {
      const findings = await check(t, { ...surroundings, options })
      assert.match(findings.of('firewall').detail, detail)
      assert.match(findings.of('firewall').fix ?? '', fix)
      assert.equal(findings.of('firewall').ok, true)
    }
    const off = await check(t, { files: { 'etc/ufw/ufw.conf': 'ENABLED=no\n' }, options })
    off.expectFine('firewall', /neither ufw/)
    const hidden = await check(t, { options: { listen: ['127.0.0.1:0'], headless: true } })
    hidden.expectFine('firewall', /loopback only/)
  })

  it('finds why there would be no clipboard', async (t) => {
    const options = { clipboard: 'x11' }
    const none = await check(t, { options })
    none.expectOnly('clipboard', /DISPLAY is not set/, /--headless/)
    const environment = { WAYLAND_DISPLAY: 'wayland-0', XDG_RUNTIME_DIR: '/nonexistent' }
    const wayland = await check(t, { options: { clipboard: undefined }, environment })
    wayland.expectOnly('clipboard', /wayland on wayland-0 cannot be used: /, /WAYLAND_DISPLAY/)
    const gone = await check(t, { options, environment: { DISPLAY: ':59999' } })
    gone.expectOnly('clipboard', /x11 on :59999 cannot be used: /, /XAUTHORITY/)
    const nothing = await check(t, { options: { clipboard: undefined } })
    nothing.expectOnly('clipboard', /neither WAYLAND_DISPLAY nor DISPLAY is set/, /--headless/)
  })

  it('finds a clipboard that can be used, and leaves it alone', needs('Xvfb'), async (t) => {
    const server = await Xvfb.start(t)
    const environment = { DISPLAY: server.display }
    const findings = await check(t, { options: { clipboard: 'x11' }, environment })
    assert.deepEqual(findings.problems, [], show(findings.all))
    findings.expectFine('clipboard', new RegExp(`x11 on ${server.display} would be used`))
  })

  it('finds a folder that cannot take pushed files', async (t) => {
    const folder = await temporaryFolder(t)
    const receivedDir = join(folder, 'file')
    await writeFile(receivedDir, '')
    const findings = await check(t, { options: { clipboard: 'x11', receivedDir } })
    assert.ok(findings.problems.includes('received-folder'), show(findings.all))
    assert.match(findings.of('received-folder').fix ?? '', /--received-dir/)
    const open = join(folder, 'open')
    await mkdir(open)
    await chmod(open, 0o777)
    const ofOpen = await check(t, { options: { clipboard: 'x11', receivedDir: open } })
    assert.match(ofOpen.of('received-folder').detail, /can be changed by every user/)
  })

  it('finds a clock that cannot be right', async (t) => {
    const past = await check(t, { now: () => 0 })
    past.expectOnly('clock', /1970-01-01 00:00 UTC/, /set-ntp/)
    const possible = await check(t)
    possible.expectFine('clock', /UTC; whether it is right cannot be seen from here$/)
  })

  it('finds a full disk', async (t) => {
    const full = await check(t, { statfs: async () => ({ ...ROOMY, bavail: 100 }) })
    full.expectOnly('disk', /400 KiB free .* below 256 MiB/, /--min-free-bytes/)
    const nothing = { ...ROOMY, bavail: 0 }
    const zero = await check(t, { statfs: async () => nothing, options: { minFreeBytes: '0' } })
    zero.expectOnly('disk', /^0 bytes free/, /make room/)
    const files = await check(t, { statfs: async () => ({ ...ROOMY, ffree: 12 }) })
    files.expectOnly('disk', /only 12 more files/, /delete/)
    const uncounted = await check(t, { statfs: async () => ({ ...ROOMY, files: 0, ffree: 0 }) })
    uncounted.expectFine('disk', /100 GiB free/)
    const small = await check(t, { statfs: async () => ({ ...ROOMY, bavail: GIB / 4096 }) })
    small.expectHint('disk', /10 GiB, the largest allowed, would not fit/, /./)
  })

  it('finds limits that are too low', async (t) => {
    const limits = (count: number): Readonly<Record<string, string>> => ({
      'proc/self/limits': `Max open files            ${count}                 ${count}  files\n`,
    })
    const low = await check(t, { files: limits(128) })
    low.expectOnly('descriptors', /room for 32 connections/, /LimitNOFILE/)
    const usual = await check(t, { files: limits(4096) })
    usual.expectHint('descriptors', /1024 connections, and not 4096/, /16384/)
    const high = await check(t, { files: limits(16_384) })
    high.expectFine('descriptors', /4096 connections/)

    const memory = await check(t, { availableMemory: () => 50 * 1024 ** 2 })
    memory.expectOnly('memory', /50 MiB available/, /--verify-workers/)
    const workers = await check(t, { options: { verifyWorkers: '10' } })
    workers.expectHint('memory', /up to 640 MiB/, /--verify-workers/)
  })

  it('makes a finding of a check that fails', async (t) => {
    const failing = Object.assign(new Error('x'), { code: 'EIO', syscall: 'statfs' })
    const findings = await check(t, { statfs: () => Promise.reject(failing) })
    findings.expectOnly('disk', /^cannot be checked: EIO \(statfs\)$/, /./)
  })
})

describe('clipgate doctor, beside a daemon', () => {
  it('asks each address that a link may name', async (t) => {
    const daemon = await startDaemonProcess(t, {
      args: ['--listen', '0.0.0.0:0', '--clipboard', 'none'],
    })
    await daemon.pair('Phone')
    const dataDir = join(daemon.folder, 'data')
    const findings = await check(t, { dataDir, interfaces: networkInterfaces })
    const { port } = new URL(daemon.ready.gateway)
    findings.expectFine('listening', new RegExp(`^answers at 127\\.0\\.0\\.1:${port}\\b`))
    assert.equal(findings.of('daemon').ok, true)

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
    registry.noteSighting(device?.id ?? '', {
      at: Date.now(),
      address: undefined,
      client: undefined,
    })
    ;(await check(t, { dataDir })).expectFine('devices', /^1 paired$/)
    await registry.revoke('my_phone')
    const none = await check(t, { dataDir })
    assert.deepEqual(none.of('devices'), {
      check: 'devices',
      ok: false,
      detail: 'none is paired',
      fix: 'clipgate pair',
    })
  })

  it('tells what the daemon says is wrong', async (t) => {
    const error = 'something else listens there already'
    const lost = await besideDaemon(t, { listeners: [{ name: 'gateway', urls: [], error }] })
    const listening = (await check(t, { dataDir: lost.dataDir })).of('listening')
    assert.deepEqual([listening.ok, listening.detail.includes(error)], [false, true])

    const broken = await besideDaemon(t, { clipboardError: 'the display is gone' })
    const clipboard = (await check(t, { dataDir: broken.dataDir })).of('clipboard')
    assert.deepEqual([clipboard.ok, clipboard.detail], [false, 'x11: the display is gone'])

    const storage = { ...STATUS.storage, stagedBytes: 19 * GIB }
    const full = await besideDaemon(t, { storage })
    const disk = (await check(t, { dataDir: full.dataDir })).of('disk')
    assert.deepEqual([disk.ok, /19 GiB of 20 GiB/.test(disk.detail)], [false, true])
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
    notReady.expectOnly('daemon', /is not ready yet/, /./)
    await directory.announce({ control: 'http://127.0.0.1:1' })
    const gone = await check(t, { dataDir })
    gone.expectOnly('daemon', /Cannot reach the daemon/, /./)
  })
})
