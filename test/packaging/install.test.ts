import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { before, describe, it, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { readManifest } from '../../build/parts.ts'
import { pasteUntil } from '../desktop/x11/support/xclip.ts'
import { isolatedEnvironment, startDaemonProcess } from '../support/daemon-process.ts'
import {
  fakeNotifySend as fakeProgram,
  type FakeNotifySend as FakeProgram,
} from '../support/fake-notify-send.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { folderForAll, temporaryFolder } from '../support/temporary-folder.ts'
import { Xvfb } from '../support/xvfb.ts'
import { makeCleanRoot, needsCleanRoot, type CleanRoot } from './support/clean-root.ts'
import { makeRelease, PROJECT } from './support/make-release.ts'
import { execute } from '../support/execute.ts'

const { version } = readManifest(PROJECT)
/** The number of what was installed before. */
const OLDER = '0.0.9'

/** Uses the program as its owner, a script and a phone would. */
async function use(t: TestContext, root: CleanRoot, prefix: string): Promise<void> {
  const program = `${prefix}/bin/clipgate`
  assert.equal(await root.run(program, '--version'), `clipgate ${version}\n`)
  // There is no systemd, and a page about that, where the message says.
  const refused: unknown = await root.run(program, 'service', 'install').catch((error) => error)
  const [, page = ''] = /; (\S+\.md) has recipes/.exec(String(refused)) ?? []
  assert.match(await readFile(join(root.folder, page), 'utf8'), /^# Installing/)
  const daemon = await startDaemonProcess(t, {
    wrapper: root.inside,
    main: program,
    folder: '/home/user',
    args: ['--headless'],
  })
  const { link, username, password } = await daemon.pair('Phone')
  await writeFile(join(root.folder, 'home/user/link'), link)
  await writeFile(join(root.folder, 'home/user/sent'), 'from a file')

  const script = `
    const headers = { authorization: 'Basic ' + btoa(process.argv[2]) }
    const body = JSON.stringify({ type: 'Text', text: 'from the phone' })
    const answer = await fetch(process.argv[1] + '/Sync.json', { method: 'PUT', headers, body })
    process.stdout.write(String(answer.status))`
  const credentials = `${username}:${password}`
  const node = ['node', '--input-type=module', '-e', script, daemon.ready.gateway, credentials]
  assert.equal(await root.run(...node), '200')
  const from = ['--link-file', '/home/user/link']
  assert.match(await root.run(program, 'pull', ...from), /^from the phone/)
  await root.run(program, 'push', ...from, '/home/user/sent')
  assert.equal(await root.run(program, 'pull', ...from, '--output', '-'), 'from a file')

  assert.equal(await daemon.stop(), 0)
  assert.equal(daemon.stderr().includes('rror'), false, daemon.stderr())
}

/** A package manager that knows of one package, `nodejs`. */
async function installDpkg(root: CleanRoot, node: string): Promise<void> {
  const folder = join(root.folder, 'var/lib/dpkg')
  for (const name of ['info', 'updates', 'triggers']) {
    await mkdir(join(folder, name), { recursive: true })
  }
  const lines = [
    'Package: nodejs',
    'Status: install ok installed',
    'Maintainer: nobody',
    'Architecture: all',
    `Version: ${node}`,
    'Description: runs JavaScript',
  ]
  await writeFile(join(folder, 'status'), `${lines.join('\n')}\n\n`)
}

const dpkg = (root: CleanRoot, ...args: readonly string[]) =>
  execute('dpkg', [`--root=${root.folder}`, '--no-debsig', ...args], {
    env: { ...process.env, LC_ALL: 'C', PATH: `${process.env['PATH']}:/usr/sbin:/sbin` },
  })

async function filesOf(root: CleanRoot): Promise<readonly string[]> {
  const paths = await readdir(root.folder, { recursive: true, encoding: 'utf8' })
  return paths.filter((path) => !/^(?:var|home|tmp)\b/.test(path)).sort()
}

describe('a release, where there is nothing but Node and no network,', needsCleanRoot(), () => {
  let [folder, release, older] = ['', '', '']
  before(async () => {
    folder = await folderForAll()
    release = await makeRelease(folder)
    older = await packOlder()
  })

  /** The same with another number, in place of one that was published. */
  async function packOlder(): Promise<string> {
    const [path, kept] = [join(folder, 'package.json'), join(folder, 'kept')]
    const manifest = await readFile(path, 'utf8')
    await rename(release, kept)
    await writeFile(path, manifest.replace(`"version": "${version}"`, `"version": "${OLDER}"`))
    await execute(process.execPath, ['--import', 'tsx', 'build/release.ts'], { cwd: folder })
    await rename(release, join(folder, 'older'))
    await rename(kept, release)
    await writeFile(path, manifest)
    return join(folder, 'older')
  }

  const deb = () => join(release, `clipgate_${version}_all.deb`)
  const archive = () => join(release, `clipgate-${version}-linux.tar.gz`)

  it('is installed by dpkg, used, and removed without a trace', async (t) => {
    const root = await makeCleanRoot(t)
    await installDpkg(root, '20.19.2+dfsg-1')
    const before = await filesOf(root)
    await dpkg(root, '--install', deb())
    await use(t, root, '/usr')
    // The checksums of what was installed, which were not written by this machine.
    assert.equal((await dpkg(root, '--verify', 'clipgate')).stdout, '')
    await dpkg(root, '--purge', 'clipgate')
    assert.deepEqual(await filesOf(root), before)
  })

  it('is not configured by dpkg beside a Node that is too old', async (t) => {
    const root = await makeCleanRoot(t)
    await installDpkg(root, '18.20.4+dfsg-1~deb12u1')
    await assert.rejects(dpkg(root, '--install', deb()), /nodejs \(>= 20\.19\)/)
  })

  it('is unpacked by tar, and used', async (t) => {
    const root = await makeCleanRoot(t)
    const prefix = join(root.folder, 'usr/local')
    await mkdir(prefix)
    await unpack(archive(), prefix)
    await use(t, root, '/usr/local')
  })

  const unpack = (file: string, prefix: string) =>
    execute('tar', ['-xzf', file, '--strip-components=1', '-C', prefix])
  const installs = {
    npm: (from: string, number: string, prefix: string) => {
      const args = ['install', '--global', '--offline', '--prefix', prefix]
      return execute('npm', [...args, join(from, `clipgate-${number}.tgz`)])
    },
    tar: (from: string, number: string, prefix: string) =>
      unpack(join(from, `clipgate-${number}-linux.tar.gz`), prefix),
  }
  for (const [tool, install] of Object.entries(installs)) {
    it(`goes by ${tool} to the next version while it runs, and back`, needs('npm'), async (t) => {
      const home = await temporaryFolder(t)
      const prefix = join(home, '.local')
      await mkdir(prefix)
      const main = join(prefix, 'bin/clipgate')
      const installed = async () =>
        JSON.parse(await readFile(join(await realpath(main), '../../../package.json'), 'utf8'))
      const start = () => startDaemonProcess(t, { folder: home, main, args: ['--headless'] })
      await install(older, OLDER, prefix)
      let daemon = await start()
      const device = await daemon.pair('Phone')
      const phone = () => createPhone(device, daemon.ready.gateway)
      await phone().pushFile('File', 'a', Buffer.from('the item'))
      const begun = await phone().fetch('/file/film.mp4', {
        ...{ method: 'PUT', body: '0123' },
        headers: { 'Upload-Complete': '?0', 'Upload-Length': '12' },
      })
      const place = begun.headers.get('location') ?? ''

      for (const [from, number, offset] of [
        [release, version, 4],
        [older, OLDER, 8],
      ] as const) {
        await install(from, number, prefix)
        assert.equal((await installed()).version, number)
        // What ran before goes on, and commands of the other version reach it.
        assert.equal(String(await phone().download()), 'the item')
        await daemon.run('status')
        assert.equal(await daemon.stop(), 0)
        daemon = await start()
        assert.equal(String(await phone().download()), 'the item')
        const more = await phone().fetch(place, {
          ...{ method: 'PATCH', body: '4567' },
          headers: {
            ...{ 'Upload-Complete': offset === 8 ? '?1' : '?0', 'Upload-Offset': String(offset) },
            'Content-Type': 'application/partial-upload',
          },
        })
        assert.equal(more.ok, true, String(more.status))
      }
      assert.equal(await daemon.stop(), 0)
    })
  }

  it('opens the panel from the menu of a desktop', needs('Xvfb', 'gio'), async (t) => {
    const home = await temporaryFolder(t)
    const prefix = join(home, '.local')
    await mkdir(prefix)
    await unpack(archive(), prefix)
    const { display } = await Xvfb.start(t)
    const opener = await fakeProgram(t, 0, 'xdg-open')
    const broken = await fakeProgram(t, 3, 'xdg-open')
    const notifier = await fakeProgram(t)
    const env = (path: string) => isolatedEnvironment(home, { DISPLAY: display, PATH: path })
    // By the library with which GNOME and others start what their menus have.
    const entry = join(prefix, 'share/applications/clipgate.desktop')
    const choose = (first: FakeProgram) => {
      const [folder] = first.path.split(':')
      return execute('gio', ['launch', entry], { env: env(`${folder}:${notifier.path}`) })
    }
    const clipgate = (...args: readonly string[]) =>
      execute(join(prefix, 'bin/clipgate'), args, { env: env(process.env['PATH'] ?? '') })
    const failure = async () => {
      const [title, words] = (await notifier.calls.next()).slice(-2)
      assert.equal(title, 'clipgate')
      return words ?? ''
    }
    const config = join(home, 'config/clipgate/config.json')
    await mkdir(dirname(config), { recursive: true })

    const configure = (settings: object) => writeFile(config, JSON.stringify(settings))

    await configure({ grace: 'soon' })
    await choose(opener)
    assert.match(await failure(), /^Cannot use &quot;grace&quot; in /)
    await configure({ listen: ['192.0.2.1:42720'], control: '127.0.0.1:0' })
    await choose(opener)
    assert.match(await failure(), /^Cannot listen on 192\.0\.2\.1:42720: /)

    await configure({ listen: ['127.0.0.1:0'], control: '127.0.0.1:0' })
    t.after(() => clipgate('stop').catch(() => undefined))
    const pids = new Set<number>()
    for (const _ of ['starts it', 'finds it']) {
      await choose(opener)
      const [page = ''] = await opener.calls.next()
      assert.match(await readFile(page, 'utf8'), /http-equiv="refresh"/)
      pids.add(JSON.parse((await clipgate('status', '--json')).stdout).pid)
    }
    assert.equal(pids.size, 1)
    // Its log leads nowhere any more, and it lives.
    await clipgate('pair', '--json')
    assert.equal(JSON.parse((await clipgate('status', '--json')).stdout).clipboard, 'x11')

    await choose(broken)
    assert.match(await failure(), /opens a browser says: exit code 3; .*clipgate panel --print$/)
    await clipgate('stop')

    await rm(join(prefix, 'bin/clipgate'))
    await choose(opener)
    assert.equal(await failure(), 'clipgate or its Node is not on the path of the desktop')
  })

  it('shares the clipboard of a desktop', needs('Xvfb', 'xclip'), async (t) => {
    const prefix = await temporaryFolder(t)
    await unpack(archive(), prefix)
    const { display } = await Xvfb.start(t)
    const env = { DISPLAY: display }
    const daemon = await startDaemonProcess(t, { main: join(prefix, 'bin/clipgate'), env })
    assert.equal(daemon.ready.clipboard, 'x11')
    const { link } = await daemon.pair('Phone')
    const file = join(daemon.folder, 'link')
    await writeFile(file, link)
    const sent = join(daemon.folder, 'sent.txt')
    await writeFile(sent, 'from a file')
    await daemon.run('push', '--link-file', file, sent)
    const received = pathToFileURL(join(daemon.folder, 'received/sent.txt'))
    await pasteUntil(display, 'text/uri-list', `${received}\r\n`)
  })
})
