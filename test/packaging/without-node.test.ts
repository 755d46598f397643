import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, it, type TestContext } from 'node:test'
import { NODES } from '../../build/nodes.ts'
import { readManifest } from '../../build/parts.ts'
import {
  startDaemonProcess,
  type DaemonProcess,
  type PairedDevice,
} from '../support/daemon-process.ts'
import { execute } from '../support/execute.ts'
import { onlyAtNight } from '../support/night.ts'
import {
  makeDebianRoot,
  makeImageRoot,
  needsDebianRoot,
  type CleanRoot,
} from './support/clean-root.ts'
import { makeRelease, OLDER, packRelease, PROJECT } from './support/make-release.ts'
import { folderForAll } from '../support/temporary-folder.ts'

const { version } = readManifest(PROJECT)
const IMAGE = `clipgate-${version}-image.tar`

/** A manager of services that knows one, and starts nothing. */
const SYSTEMCTL = `#!/bin/sh
case "$*" in *show-environment*) ;; *\\ show\\ *) printf 'ActiveState=inactive\\nUnitFileState=enabled\\n' ;; esac
`

/** A phone, in the Node that came with the program: prints the status of an answer, or a field. */
const PHONE = `
  const [method, url, credentials, body, headers = '{}', field] = process.argv.slice(1)
  const authorization = 'Basic ' + btoa(credentials)
  const answer = await fetch(url, {
    method, body: body || undefined, headers: { authorization, ...JSON.parse(headers) },
  })
  process.stdout.write(field ? String(answer.headers.get(field)) : String(answer.status))`

/** Below an emulator on a busy machine, one hash may take longer than a command waits. */
async function pairWith(daemon: DaemonProcess, processor: string): Promise<PairedDevice> {
  for (;;) {
    try {
      return await daemon.pair('Phone')
    } catch (error) {
      if (processor === process.arch) throw error
    }
  }
}

/** That of small boards is emulated. */
for (const processor of new Set([process.arch, 'arm64'])) {
  // By day `install.test.ts` installs what has no Node with it, in the same ways.
  const options = onlyAtNight(() => needsDebianRoot(processor))
  const target = `linux-${processor}`
  const debian = NODES[target]?.debian ?? ''

  describe(`a release of ${processor}, where there is no Node and no network,`, options, () => {
    let [folder, release] = ['', '']
    before(async () => {
      folder = await folderForAll()
      release = await makeRelease(folder, undefined, `${target} image`)
    })

    const archive = (from: string) => join(from, `clipgate-${version}-${target}.tar.gz`)
    const deb = (from: string) => join(from, `clipgate_${version}_${debian}.deb`)

    /** Makes what was unpacked what was published before, but for its program. */
    const age = async (path: string): Promise<void> => {
      const text = await readFile(path, 'utf8')
      await writeFile(path, text.replace(version, OLDER))
    }

    /** Uses one version, installs the next one while it runs, and finds everything as it was. */
    async function upgrade(
      t: TestContext,
      user: CleanRoot,
      prefix: string,
      installNext: () => Promise<unknown>,
    ): Promise<void> {
      const program = `${prefix}/bin/clipgate`
      const start = (main = program) =>
        startDaemonProcess(t, {
          ...{ wrapper: user.inside, main, isWhole: true, folder: '/home/user' },
          args: ['--headless'],
          env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
        })
      const node = `${prefix}/lib/clipgate/node`
      const phone = (...args: readonly string[]) =>
        user.run(node, '--input-type=module', '-e', PHONE, ...args)

      const older = await start()
      const installed = () => user.run('cat', `${prefix}/lib/clipgate/package.json`)
      assert.match(await installed(), new RegExp(`"version": "${OLDER}"`))
      const paired = await pairWith(older, processor)
      const credentials = `${paired.username}:${paired.password}`
      const text = JSON.stringify({ type: 'Text', text: 'from the phone' })
      assert.equal(await phone('PUT', `${older.ready.gateway}/Sync.json`, credentials, text), '200')
      const part = { 'Upload-Complete': '?0', 'Upload-Length': '10' }
      const film = `${older.ready.gateway}/file/film.mp4`
      const place = await phone('PUT', film, credentials, '01234', JSON.stringify(part), 'location')
      await mkdir(join(user.folder, 'home/user/config/clipgate'), { recursive: true })
      const settings = join(user.folder, 'home/user/config/clipgate/config.json')
      await writeFile(settings, '{ "recent": 3 }')

      await installNext()
      assert.match(await installed(), new RegExp(`"version": "${version}"`))
      await older.run('status')
      assert.equal(await older.stop(), 0)

      const newer = await start()
      // From a pipe, they would read a link.
      const own = (line: string) =>
        user.run('sh', '-c', `exec ${program} ${line} --data-dir /home/user/data </dev/null`)
      assert.equal(await own('pull --output -'), 'from the phone')
      assert.match((await newer.run('devices')).stdout, /Phone/)
      const at = JSON.stringify({
        ...{ 'Upload-Complete': '?1', 'Upload-Offset': '5' },
        'Content-Type': 'application/partial-upload',
      })
      assert.match(place, /^\/file-uploads\//)
      const upload = newer.ready.gateway + place
      assert.equal(await phone('PATCH', upload, credentials, '56789', at), '200')
      const item = JSON.stringify({ type: 'File', dataName: 'film.mp4', hasData: true })
      assert.equal(await phone('PUT', `${newer.ready.gateway}/Sync.json`, credentials, item), '200')
      assert.equal(await own('pull --output -'), '0123456789')
      await writeFile(join(user.folder, 'home/user/sent'), 'from a file')
      await own('push /home/user/sent')
      assert.match((await newer.run('panel', '--print')).stdout, /^http:\/\/127\.0\.0\.1:\d+\//)
      assert.equal(await readFile(settings, 'utf8'), '{ "recent": 3 }')

      // The unit names what came with the program.
      const systemctl = join(user.folder, 'usr/bin/systemctl')
      await writeFile(systemctl, SYSTEMCTL)
      await chmod(systemctl, 0o755)
      assert.equal(await newer.stop(), 0)
      await user.run(program, 'service', 'install')
      const unit = await user.run('cat', '/home/user/.config/systemd/user/clipgate.service')
      assert.match(
        unit,
        new RegExp(`^ExecStart="${node}" "${prefix}/lib/clipgate/dist/cli/main.js"`, 'm'),
      )
      await rm(systemctl)
    }

    // By day one without a Node in it: test/packaging/install.test.ts.
    it('is unpacked by a user, upgraded while it runs, and used', async (t) => {
      const { user } = await makeDebianRoot(t, processor)
      const home = join(user.folder, 'home/user')
      await copyFile(archive(release), join(home, 'newer.tar.gz'))
      await user.run('mkdir', '/home/user/.local')
      const unpack = () =>
        user.run(
          ...['tar', '-xzf', '/home/user/newer.tar.gz'],
          ...['--strip-components=1', '-C', '/home/user/.local'],
        )
      await unpack()
      await age(join(home, '.local/lib/clipgate/package.json'))
      await upgrade(t, user, '/home/user/.local', unpack)
    })

    it('is installed by dpkg, upgraded while it runs, and removed, and data stay', async (t) => {
      const { root, user } = await makeDebianRoot(t, processor)
      const place = join(folder, 'older')
      await execute('dpkg-deb', ['-R', deb(release), place])
      for (const name of ['DEBIAN/control', 'usr/lib/clipgate/package.json']) {
        await age(join(place, name))
      }
      const older = join(root.folder, 'tmp/older.deb')
      await execute('dpkg-deb', ['--root-owner-group', '-Znone', '-b', place, older])
      await copyFile(deb(release), join(root.folder, 'tmp/newer.deb'))
      const files = () => root.run('ls', '-AR', '/usr', '/etc', '/bin', '/lib')
      const untouched = await files()
      await root.run('dpkg', '--install', '/tmp/older.deb')
      await upgrade(t, user, '/usr', () => root.run('dpkg', '--install', '/tmp/newer.deb'))
      assert.equal(await root.run('dpkg', '--verify', 'clipgate'), '')
      await root.run('dpkg', '--purge', 'clipgate')
      assert.equal(await files(), untouched)
      assert.ok(existsSync(join(root.folder, 'home/user/data/devices.json')))
    })

    it('starts from any folder, through links, with blanks and an empty environment', async (t) => {
      const { user } = await makeDebianRoot(t, processor)
      const place = join(user.folder, 'opt/a $b & c')
      await mkdir(place, { recursive: true })
      await execute('tar', ['-xzf', archive(release), '-C', place])
      const name = `clipgate-${version}-${target}`
      await symlink(`../../opt/a $b & c/${name}/bin/clipgate`, join(user.folder, 'usr/bin/first'))
      await symlink('first', join(user.folder, 'usr/bin/second'))
      const line = 'cd /tmp && env -i /usr/bin/second --version && second help push'
      const said = await user.run('sh', '-c', line)
      assert.match(said, new RegExp(`^clipgate ${version}\n[^]*clipgate push`))
    })

    it('is an image that runs with nothing but its own files, without a shell', async (t) => {
      const { root, machine, config } = await makeImageRoot(t, join(release, IMAGE), processor)
      assert.deepEqual(config.Cmd, ['clipgate', 'serve'])
      const { PATH, ...settings } = Object.fromEntries(config.Env.map((one) => one.split('=')))
      const daemon = await startDaemonProcess(t, {
        ...{ wrapper: root.inside, main: 'clipgate', isWhole: true, folder: '/data' },
        env: { ...settings, PATH: `${PATH}:/usr/sbin` },
      })
      assert.match(daemon.ready.gateway, /:42720$/)
      const status = (...args: readonly string[]) =>
        machine.curl('-o', '/dev/null', '-w', '%{http_code}', ...args)
      const gateway = 'http://127.0.0.1:42720'
      assert.equal(await status(`${gateway}/healthz`), '204')
      const { username, password } = await pairWith(daemon, processor)
      const push = [
        '-u',
        `${username}:${password}`,
        '-X',
        'PUT',
        '-d',
        '{"type":"Text","text":"here"}',
      ]
      assert.equal(await status(...push, `${gateway}/Sync.json`), '200')
      assert.match((await daemon.run('status')).stdout, /headless/)
      assert.equal(await daemon.stop(), 0)
    })

    it('has what Node and its license are', async (t) => {
      const place = await mkdtemp(join(folder, 'unpacked-'))
      await execute('tar', ['-xzf', archive(release), '--strip-components=1', '-C', place])
      const docs = join(place, 'share/doc/clipgate')
      const list = JSON.parse(await readFile(join(docs, 'clipgate.cdx.json'), 'utf8'))
      const { name = '', version: number } = NODES[target] ?? {}
      const part = list.components.find((one: { name: string }) => one.name === name)
      assert.match(part.cpe, new RegExp(`:nodejs:node.js:${number}:`))
      assert.match(await readFile(join(docs, 'copyright'), 'utf8'), /Node\.js is licensed for use/)
      const { user } = await makeDebianRoot(t, processor)
      await execute('cp', [join(place, 'lib/clipgate/node'), join(user.folder, 'tmp/node')])
      assert.equal(await user.run('/tmp/node', '--version'), `v${number}\n`)
    })

    // By day one without a Node in it: test/packaging/release.test.ts.
    it('is the same when it is made again', async () => {
      const names = [archive(''), deb(''), IMAGE]
      const first = await Promise.all(names.map((name) => readFile(join(release, name))))
      await execute('mv', [release, join(folder, 'kept')])
      await packRelease(folder, target, 'image')
      for (const [index, name] of names.entries()) {
        assert.ok((await readFile(join(release, name))).equals(first[index] ?? Buffer.of()), name)
      }
    })
  })
}
