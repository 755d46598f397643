import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { NODES } from '../../build/nodes.ts'
import { loadSettings } from '../../src/daemon/load-settings.ts'
import { makeRelease, PROJECT } from '../packaging/support/make-release.ts'
import { onlyAtNight } from '../support/night.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { readRecipe } from './support/recipes.ts'
import { needsServer, runOnServer } from './support/server-root.ts'

const PAGE = readFileSync(join(PROJECT, 'docs/guides/server.md'), 'utf8')
const NAME = 'other.example.net'

/** The name in a site, there or here. */
const SITE = /(?:clip|other)\.example\.\w+/g

/** The blocks of commands of a step, with another name in place of the one that is to be replaced. */
function blocksOf(heading: string): readonly string[] {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith(`${heading}\n`))
  assert.ok(section !== undefined, `there is a step "${heading}"`)
  const blocks = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block)
  return blocks.map((block) => block.replace(/^NAME=\S+/gm, `NAME=${NAME}`))
}

/** The small package in place of the one with a Node inside, which other tests install. */
async function release(t: TestContext): Promise<readonly [file: string, content: Buffer]> {
  const folder = await makeRelease(await temporaryFolder(t))
  const [file = ''] = /clipgate_[\d.]+_amd64\.deb/.exec(PAGE) ?? []
  return [`/root/${file}`, await readFile(join(folder, file.replace('amd64', 'all')))]
}

/** Prints a file between two lines. */
const show = (path: string): string => `echo "<${path}>"; cat ${path}; echo "</${path}>"\n`

function shown(printed: string, path: string): string {
  const [, text] = printed.match(new RegExp(`<${path}>\n([^]*?)\n?</${path}>`)) ?? []
  return text ?? assert.fail(`${path} is shown`)
}

it(
  'docs/guides/server.md makes a node that nginx leads to, and a site for Caddy',
  // By day `far-away.test.ts` has what the page arranges.
  onlyAtNight(needsServer),
  async (t) => {
    const [atHome = '', onServer = '', ...more] = blocksOf('What you need')
    assert.deepEqual(more, [])
    const [, target = ''] = /TARGETS=(\S+)/.exec(atHome) ?? []
    assert.ok(atHome.includes(`release/clipgate_0.1.0_${NODES[target]?.debian}.deb root@$NAME`))

    // What is done at home is in other tests.
    const isOfServer = (block: string) => !/^clipgate /m.test(block)
    // In the order of the page, up to the alternatives.
    const [walk = ''] = PAGE.split('\n## In containers\n')
    const [, ...steps] = [...walk.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading)
    const blocks = steps.flatMap(blocksOf).filter(isOfServer)
    const caddyfile = 'www.example.org {\n\trespond "here before"\n}\n'
    const files = new Map<string, string | Buffer>([
      await release(t),
      ['/etc/caddy/Caddyfile', caddyfile],
    ])
    const config = '/etc/clipgate/config.json'
    const site = '/etc/nginx/sites-available/clipgate.conf'
    const paths = [config, '/etc/caddy/Caddyfile', '/caddy.json', site, '/ufw']
    const end = `${paths.map(show).join('')}clip devices\nclip status\n`
    const printed = await runOnServer(t, NAME, files, [onServer, ...blocks, end].join('\n'))

    const path = join(await temporaryFolder(t), 'config.json')
    await writeFile(path, shown(printed, config))
    const where = { platform: 'linux', environment: {}, home: '/nobody' } as const
    const settings = await loadSettings({ options: { config: path }, where, cwd: '/' })
    assert.equal(settings.publicUrl, `https://${NAME}`)
    assert.deepEqual(settings.trustedProxies, ['127.0.0.1'])

    const caddy = shown(printed, '/etc/caddy/Caddyfile')
    assert.ok(caddy.startsWith(caddyfile), 'the site that was there is there')
    for (const [recipe, text] of [
      ['caddy/Caddyfile', caddy.slice(caddyfile.length)],
      ['nginx/clipgate.conf', shown(printed, site)],
    ] as const) {
      assert.equal(text.trim(), readRecipe(recipe).replace(SITE, NAME).trim())
    }
    assert.match(shown(printed, '/caddy.json'), /www\.example\.org[^]*other\.example\.net/)
    assert.match(shown(printed, '/ufw'), /^allow OpenSSH\nallow 80,443\/tcp\nenable$/)

    // Through nginx, with the certificate that certbot got.
    assert.match(printed, /^HTTP\/(?:2|1\.1) 204/m)
    assert.match(printed, /^No problem found in \d+ checks/m)
    assert.match(printed, /^clip:\/\/.+\n[^]*^clip:\/\//m)
    // After an update, a backup and its restoration.
    assert.match(printed, /\bMy phone\b[^]*\bdesk\b/)
    assert.match(printed, /^Daemon +clipgate [\d.]+, headless/m)
  },
)
