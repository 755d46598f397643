import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parseArguments } from '../../src/cli/arguments.ts'
import { findCommand } from '../../src/cli/commands.ts'
import { SETTING_OPTIONS } from '../../src/cli/setting-options.ts'
import { loadSettings } from '../../src/daemon/load-settings.ts'
import type { Settings } from '../../src/daemon/settings.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { readCompose } from './support/compose.ts'
import { readRecipe, ROOT } from './support/recipes.ts'
import { verifyUnit } from './support/verify-unit.ts'

const SERVER = readFileSync(join(ROOT, 'docs/guides/server.md'), 'utf8')
const OVERLAY = SERVER.slice(SERVER.indexOf('\n## Over WireGuard or Tailscale\n'))

function blocks(page: string, language: string): readonly string[] {
  const found = page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))
  return [...found].map(([, code = '']) => code)
}

/** What is called: `clipgate …`, `clip …` of the shorthand, and both in a sentence. */
function callsIn(page: string): readonly (readonly string[])[] {
  const inText = page.replace(/```.*?```/gs, '').matchAll(/`(clip(?:gate)? [^`]+)`/g)
  const inCode = blocks(page, 'sh').flatMap((block) => block.split('\n'))
  const lines = [...inCode, ...[...inText].map(([, text = '']) => text)]
  const call = /(?:^|&& |exec clipgate )clip(?:gate)? ([a-z]+\b[^&#|]*)/
  return lines.flatMap((line) => {
    const [, text] = call.exec(line.replace(/\s+/g, ' ')) ?? []
    if (text === undefined) return []
    const words = text.match(/'[^']*'|\S+/g) ?? []
    return [words.map((word) => word.replaceAll("'", ''))]
  })
}

/** The settings of the config file that a page shows. */
async function settingsIn(page: string, folder: string): Promise<Settings> {
  const [json = ''] = blocks(page, 'json')
  const config = join(folder, 'config.json')
  await writeFile(config, json)
  const where = { platform: 'linux', environment: {}, home: '/nobody' } as const
  return loadSettings({ options: { config, headless: true }, where, cwd: '/' })
}

const PHONES = readFileSync(join(ROOT, 'docs/guides/phones.md'), 'utf8')
const TROUBLE = readFileSync(join(ROOT, 'docs/guides/trouble.md'), 'utf8')

const HOUR = readFileSync(join(ROOT, 'docs/guides/first-hour.md'), 'utf8')

const PAGES = [
  ['docs/guides/server.md', SERVER, 15],
  ['docs/guides/phones.md', PHONES, 9],
  ['docs/guides/trouble.md', TROUBLE, 8],
  ['docs/guides/first-hour.md', HOUR, 10],
] as const

for (const [name, page, least] of PAGES) {
  describe(name, () => {
    it('calls commands and gives options that there are', () => {
      const calls = callsIn(page)
      assert.ok(calls.length >= least, `it calls ${calls.length} commands`)
      for (const [name = '', ...rest] of calls) {
        const command = findCommand(name)
        assert.ok(command !== undefined, `there is "${name}"`)
        const settings = command.settings === 'none' ? {} : SETTING_OPTIONS
        const options = { ...settings, ...command.options }
        const { problems, operands } = parseArguments(rest, options)
        assert.deepEqual(problems, [], `${name} ${rest.join(' ')}`)
        assert.ok(operands.length <= (command.operands?.[1] ?? 0), `${name} ${rest.join(' ')}`)
      }
    })

    it('names files of deploy/ and tests that there are', () => {
      const named = [...page.matchAll(/\b(?:deploy|test)\/[\w./-]+\w/g)].map(([path]) => path)
      const made = ['deploy/.env']
      const missing = named.filter((path) => !made.includes(path) && !existsSync(join(ROOT, path)))
      assert.deepEqual(missing, [])
    })
  })
}

describe('the walk of docs/guides/server.md', () => {
  it('backs up what the unit and the compose file keep', () => {
    const unit = readRecipe('systemd/system/clipgate.service')
    assert.match(unit, /^StateDirectory=clipgate$/m)
    const [backup = ''] = blocks(SERVER, 'sh').filter((block) => block.includes('tar --create'))
    assert.match(
      backup,
      /^systemctl stop clipgate\n.* var\/lib\/clipgate \)\nsystemctl start clip/s,
    )
    const volume = `the volume \`${readCompose().volumes['data']?.name}\``
    assert.ok(SERVER.replace(/\s+/g, ' ').includes(volume), volume)
  })
})

describe('the tunnel of docs/guides/server.md', () => {
  it('makes the node listen in the tunnel alone', async (t) => {
    const settings = await settingsIn(OVERLAY, await temporaryFolder(t))
    assert.deepEqual(
      settings.listen?.map(({ host }) => host),
      ['10.213.9.1'],
    )
    assert.equal(settings.allowPublic, false)
  })

  it('goes with a drop-in that systemd understands', needs('systemd-analyze'), async (t) => {
    const [dropIn = ''] = blocks(OVERLAY, 'ini')
    const unit = `${readRecipe('systemd/system/clipgate.service')}\n${dropIn}`
    assert.equal(await verifyUnit(t, '--system', unit), '')
    const wrong = unit.replace('StartLimitIntervalSec=0', 'StartLimitInterval=x')
    assert.notEqual(await verifyUnit(t, '--system', wrong), '')
  })
})
