import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, readdir, writeFile, readlink, stat, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { onlyAtNight } from '../support/night.ts'
import { needs } from '../support/requirements.ts'
import { windowsFiles } from '../../build/contents.ts'
import { NODES } from '../../build/nodes.ts'
import { BUNDLED } from '../../build/packages.js'
import { readManifest } from '../../build/parts.ts'
import { makeRelease, PROJECT } from './support/make-release.ts'
import { execute } from '../support/execute.ts'
import { folderForAll } from '../support/temporary-folder.ts'

const { version } = readManifest(PROJECT)
const NPM_PACKAGE = `clipgate-${version}.tgz`
const DEB = `clipgate_${version}_all.deb`
const ARCHIVE = `clipgate-${version}-linux.tar.gz`
const PARTS = `clipgate-${version}.cdx.json`

interface Named {
  readonly name: string
  readonly version: string
  readonly hashes?: readonly { readonly content: string }[]
}

describe('a release', needs('make', 'tar', 'ar', 'dpkg-deb', 'sha256sum'), () => {
  let [folder, release] = ['', '']
  before(async () => {
    folder = await folderForAll()
    await mkdir(join(folder, 'one'))
    release = await makeRelease(join(folder, 'one'), {})
  })

  const list = async (file: string): Promise<readonly string[]> => {
    const { stdout } = await execute('tar', ['-tzf', join(release, file)])
    return stdout.split('\n').filter((path) => path !== '' && !path.endsWith('/'))
  }
  const inDeb = async (...args: readonly string[]): Promise<string> => {
    const lines = 'deb=$1; shift; dpkg-deb --fsys-tarfile "$deb" | tar "$@"'
    const call = ['-c', lines, 'sh', join(release, DEB), ...args]
    return (await execute('sh', call, { maxBuffer: Infinity })).stdout
  }

  it('is the same when it is made elsewhere, at another time, by somebody else', async () => {
    const elsewhere = join(folder, 'another folder')
    await mkdir(elsewhere)
    const umask = process.umask(0o077)
    const env = { TZ: 'Asia/Kolkata', LC_ALL: 'C', HOME: elsewhere, SOURCE_DATE_EPOCH: '1' }
    const again = await makeRelease(elsewhere, env).finally(() => process.umask(umask))
    const names = await readdir(release)
    assert.deepEqual(names.sort(), ['SHA256SUMS', ARCHIVE, NPM_PACKAGE, PARTS, DEB].sort())
    for (const name of names) {
      const [one, other] = [await readFile(join(release, name)), await readFile(join(again, name))]
      assert.ok(one.equals(other), `${name} is the same`)
    }
  })

  it('has the checksums of its files', async () => {
    const { stdout } = await execute('sha256sum', ['-c', 'SHA256SUMS'], { cwd: release })
    assert.equal(stdout.match(/: OK$/gm)?.length, 4)
  })

  it('has what npm would pack', needs('npm'), async () => {
    const { stdout } = await execute('npm', ['pack', '--dry-run', '--json'], {
      cwd: join(folder, 'one'),
      maxBuffer: Infinity,
    })
    const [packed] = Object.values<{ files: readonly { path: string }[] }>(JSON.parse(stdout))
    const expected = packed?.files.map(({ path }) => `package/${path}`)
    assert.deepEqual((await list(NPM_PACKAGE)).toSorted(), expected?.toSorted())
  })

  it('is verified by the commands of docs/guides/verify.md', async () => {
    const page = await readFile(join(PROJECT, 'docs/guides/verify.md'), 'utf8')
    const blocks = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block)
    // These ask GitHub and npm, where nothing was published yet.
    const local = blocks.filter((block) => !/^(?:gh|npm) /m.test(block))
    assert.deepEqual([blocks.length, local.length], [6, 4])
    const home = join(folder, 'home')
    await cp(release, join(home, 'Downloads'), { recursive: true })
    const env = { ...process.env, HOME: home }
    for (const block of local) {
      // In the clone; what the release is, another test has made again.
      const cwd = block.includes('release/') ? dirname(release) : release
      const commands = block.replace('make release', 'test -d release')
      await execute('bash', ['-e', '-o', 'pipefail', '-c', commands], { cwd, env })
    }
  })

  it('runs nothing when it is installed', async () => {
    const lines = 'dpkg-deb --ctrl-tarfile "$1" | tar -t'
    const { stdout } = await execute('sh', ['-c', lines, 'sh', join(release, DEB)])
    assert.deepEqual(stdout.trim().split('\n'), ['./', './control', './md5sums'])
    const text = await readFile(join(PROJECT, 'package.json'), 'utf8')
    const { scripts = {} }: { scripts?: object } = JSON.parse(text)
    const running = Object.keys(scripts).filter((name) => /^(?:pre|post)?install$/.test(name))
    assert.deepEqual(running, [])
  })

  it('lists its parts as npm knows them', needs('npm'), async () => {
    const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
    const { stdout } = await execute('npm', args, { cwd: PROJECT })
    const own = JSON.parse(await readFile(join(release, PARTS), 'utf8'))
    const read = ({ components }: { components: readonly Named[] }) =>
      components.map((part) => [part.name, part.version, part.hashes?.[0]?.content]).sort()
    const known = read(JSON.parse(stdout)).filter(([name]) => BUNDLED.includes(String(name)))
    assert.deepEqual(read(own), known)
    assert.equal(known.length, BUNDLED.length)
    // Each has its license beside the program.
    const copyright = await inDeb('-xO', './usr/share/doc/clipgate/copyright')
    for (const [name, version] of known)
      assert.ok(copyright.includes(`${name} ${version}`), `${name}`)
    assert.equal(own.metadata.component.version, version)
    assert.deepEqual(
      own.dependencies.find(({ ref }: { ref: string }) => ref.includes('/yazl@')).dependsOn,
      ['pkg:npm/buffer-crc32@1.0.0'],
    )
  })

  it('installs as one package of the size that README.md says', async () => {
    const { dependencies } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8'))
    assert.equal(dependencies, undefined)
    const page = (await readFile(join(PROJECT, 'README.md'), 'utf8')).replace(/\s+/g, ' ')
    const said = Number(/installs as one package of ([\d.]+) MB/.exec(page)?.[1])
    const unpacked = join(folder, 'unpacked')
    await mkdir(unpacked)
    await execute('tar', ['-xzf', join(release, NPM_PACKAGE), '-C', unpacked])
    const { stdout } = await execute('du', ['-sk', unpacked])
    const megabytes = (Number.parseInt(stdout, 10) * 1024) / 1e6
    assert.ok(said <= 2.6 && megabytes <= said && said - megabytes < 0.3, `${megabytes} MB`)
  })

  it('has the sizes that docs/guides/verify.md says', async () => {
    const page = await readFile(join(PROJECT, 'docs/guides/verify.md'), 'utf8')
    for (const name of [NPM_PACKAGE, DEB, ARCHIVE]) {
      const [, packed, onDisk] =
        new RegExp(`^\\| \`${name}\` \\|[^|]*\\| ([\\d.]+) MB \\| ([\\d.]+) MB \\|$`, 'm').exec(
          page,
        ) ?? assert.fail(`${name} has a line`)
      const content = await readFile(join(release, name))
      const ofDeb = ['--fsys-tarfile', join(release, name)]
      const tar = name.endsWith('.deb')
        ? (await execute('dpkg-deb', ofDeb, { encoding: 'buffer', maxBuffer: Infinity })).stdout
        : gunzipSync(content)
      for (const [said, bytes] of [
        [packed, content.length],
        [onDisk, tar.length],
      ] as const)
        assert.ok(Math.abs(Number(said) - bytes / 1e6) < 0.1, `${name}: ${bytes} bytes`)
    }
  })

  it('leaves folders as they are that it is unpacked over', async () => {
    const home = join(folder, 'unpacked over')
    await mkdir(join(home, 'tools'), { recursive: true })
    await mkdir(join(home, 'share'), { mode: 0o700 })
    await symlink('tools', join(home, 'bin'))
    const args = ['-xzf', join(release, ARCHIVE), '--strip-components=1', '-C', home]
    await execute('tar', args)
    assert.equal(await readlink(join(home, 'bin')), 'tools')
    assert.equal((await stat(join(home, 'share'))).mode & 0o777, 0o700)
    await stat(join(home, 'tools/clipgate'))
  })

  it('has units that start the program where the package has it', async () => {
    for (const mode of ['user', 'system']) {
      const unit = await inDeb('-xO', `./usr/lib/systemd/${mode}/clipgate.service`)
      assert.match(unit, /^ExecStart=\/usr\/bin\/clipgate serve/m)
      assert.doesNotMatch(unit, /\.local|\/usr\/local/)
    }
  })

  it(
    'has an entry for menus, with an icon, that a desktop takes',
    needs('desktop-file-validate'),
    async () => {
      const entry = 'share/applications/clipgate.desktop'
      const icons = 'share/icons/hicolor'
      const { stdout: unpacked } = await execute('tar', [
        ...['-xzOf', join(release, ARCHIVE)],
        `clipgate-${version}/${entry}`,
      ])
      const installed = await inDeb('-xO', `./usr/${entry}`)
      assert.match(installed, /^Exec=\/usr\/bin\/clipgate panel --menu$/m)
      for (const text of [unpacked, installed]) {
        const path = join(folder, 'clipgate.desktop')
        await writeFile(path, text)
        assert.equal((await execute('desktop-file-validate', [path])).stdout, '')
      }
      const paths = [...(await list(ARCHIVE)), ...(await inDeb('-t')).split('\n')]
      for (const icon of ['scalable/apps/clipgate.svg', '192x192/apps/clipgate.png']) {
        assert.equal(paths.filter((path) => path.endsWith(`${icons}/${icon}`)).length, 2)
      }
    },
  )

  it('leaves behind what no program loads', async () => {
    const paths = [...(await list(ARCHIVE)), ...(await inDeb('-t')).split('\n')]
    const loaded = paths.filter((path) => !path.includes('share/doc/clipgate/'))
    const left = loaded.filter((path) => /\.(?:ts|map|md)$|\/(?:test|docs|examples)\//.test(path))
    assert.deepEqual(left, [])
  })

  it('has the pages that its messages name, and those that they link', async () => {
    const [archive, npm] = [await list(ARCHIVE), await list(NPM_PACKAGE)]
    const pages = new Set([...archive, ...npm])
    const docs = `clipgate-${version}/share/doc/clipgate`
    // README.md names them for who has installed it; what is about the workshop is in the clone.
    const readme = await readFile(join(PROJECT, 'README.md'), 'utf8')
    const [forUsers = ''] = readme.split('## Workshop')
    const named = [...forUsers.matchAll(/\]\(((?:docs|deploy)\/[\w./-]+\.(?:md|yaml))/g)]
    assert.ok(named.length > 10, 'it names pages')
    for (const page of named.map(([, path = '']) => path)) {
      const text = await readFile(join(PROJECT, page), 'utf8')
      const links = [...text.matchAll(/\]\(([\w./-]+\.md)/g)].map(([, link = '']) => link)
      const linked = links.map((link) => join(dirname(page), link))
      const shown = [page, ...linked].filter(
        (path) =>
          !/^docs\/(?:decisions\/|images\/|CONTRIBUTING)|^(?:bench|fixtures|test)\/|^[A-Z]+\.md$/.test(
            path,
          ),
      )
      const missing = shown.filter(
        (path) => !pages.has(`${docs}/${path}`) || !pages.has(`package/${path}`),
      )
      assert.deepEqual(missing, [], page)
    }
  })

  it('links in its pages to nothing that it does not have', async () => {
    const inside = { program: Buffer.alloc(0), packages: [], license: '', parts: [] }
    for (const [name, unpack] of [
      ['npm', (to: string) => execute('tar', ['-xzf', join(release, NPM_PACKAGE), '-C', to])],
      ['archive', (to: string) => execute('tar', ['-xzf', join(release, ARCHIVE), '-C', to])],
      ['deb', (to: string) => execute('dpkg-deb', ['-x', join(release, DEB), to])],
      [
        'windows',
        async (to: string) => {
          for (const { path, content } of windowsFiles(join(folder, 'one'), inside)) {
            await mkdir(dirname(join(to, path)), { recursive: true })
            await writeFile(join(to, path), content)
          }
        },
      ],
    ] as const) {
      const root = join(folder, 'links', name)
      await mkdir(root, { recursive: true })
      await unpack(root)
      const pages = (await readdir(root, { recursive: true })).filter((path) => /\.md$/.test(path))
      assert.ok(pages.length > 15, `${name}: ${pages.length} pages`)
      let alive = 0
      for (const page of pages) {
        const text = await readFile(join(root, page), 'utf8')
        const prose = text.replace(/^( {0,3})(```+).*?^\1\2 *$|`[^`\n]+`/gms, 'code')
        for (const [, link = ''] of prose.matchAll(/(?:\]\(|src(?:set)?=")([^)"#\s]+)/g)) {
          if (/^[a-z]+:/.test(link)) continue
          assert.ok(existsSync(join(root, dirname(page), link)), `${name}: ${page}: ${link}`)
          alive += 1
        }
      }
      assert.ok(alive > 100, `${name}: ${alive} links`)
    }
  })

  it('has the newest patch of its line as each Node', onlyAtNight(), async () => {
    for (const { name, version } of Object.values(NODES)) {
      const [line] = version.split('.')
      const { stdout } = await execute('npm', ['view', `${name}@${line}`, 'version', '--json'])
      const known: readonly string[] = [JSON.parse(stdout)].flat()
      const sorted = known.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
      assert.equal(version, sorted.at(-1), name)
    }
  })

  it('belongs to root, and only root may change it', async () => {
    const lines = (await inDeb('-tv', '--numeric-owner')).trim().split('\n')
    assert.ok(lines.length > 100, 'there are files')
    const wrong = lines.filter((line) => !/^(?:[d-]rw[x-]r-[x-]r-[x-]|lrwxrwxrwx) 0\/0 /.test(line))
    assert.deepEqual(wrong, [])
  })
})
