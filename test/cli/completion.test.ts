import assert from 'node:assert/strict'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { COMMANDS } from '../../src/cli/commands.ts'
import { SETTING_OPTIONS } from '../../src/cli/setting-options.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { runCommand } from '../support/test-shell.ts'
import { execute } from '../support/execute.ts'

const COMMAND_NAMES = Object.keys(COMMANDS)
const SERVE = [...Object.keys(COMMANDS['serve']?.options ?? {}), ...Object.keys(SETTING_OPTIONS)]

/** What a person has typed, and what may come next. `a file` and `folder` are in the folder. */
const LINES: readonly (readonly [typed: string, offered: readonly string[]])[] = [
  ['', COMMAND_NAMES],
  ['pu', ['pull', 'push']],
  ['serve --', SERVE.map((name) => `--${name}`)],
  ['serve --clipboard wa', ['wayland']],
  ['serve --clipboard=wa', ['wayland']],
  ['serve --headless --max-conn', ['--max-connections', '--max-connections-per-address']],
  ['status --d', ['--data-dir']],
  ['status --data-dir fo', ['folder']],
  ['pair --kind ', ['peer', 'phone']],
  ['pair --label ', []],
  ['group ', ['import', 'leave', 'new']],
  ['link de', ['decode']],
  ['help pu', ['pull', 'push']],
  ['push a', ['a file']],
  ['push folder a', ['a file']],
  ['pull --link-file a', ['a file']],
  ['completion ', ['bash', 'fish', 'zsh']],
  ['service ', ['install', 'remove', 'status']],
  ['revoke ', ['$(touch pwned)', 'My phone', 'mobile_1a']],
  ['rotate mob', ['mobile_1a']],
  ['leave ', ['desk']],
  ['revoke --data-dir folder mob', ['mobile_1a']],
  ['revoke --data-dir=folder mob', ['mobile_1a']],
  ['revoke mobile_1a --js', ['--json']],
]

/** What is typed when the command takes options only from there on. */
const FULL = ['revoke mobile_1a ', 'revoke --data-dir folder mobile_1a ', 'help pull ']

/** Says what `clipgate` says of these names. Others choose labels: no shell may run one. */
const NAMES = `#!/bin/sh
case $* in
  'devices --names') printf '%s\\n' 'My phone' '$(touch pwned)' mobile_1a ;;
  'peers --names') echo desk ;;
esac
`

const helper = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Runs a shell that completes `clipgate`, in a folder with a file and a folder. */
async function complete(
  t: TestContext,
  name: string,
  call: (script: string) => readonly string[],
): Promise<string> {
  const folder = await temporaryFolder(t)
  const home = await temporaryFolder(t)
  const { code, stdout } = await runCommand(['completion', name])
  assert.equal(code, 0)
  const script = join(home, 'script')
  await writeFile(script, stdout)
  await writeFile(join(folder, 'a file'), '')
  await mkdir(join(folder, 'folder'))
  await writeFile(join(home, 'clipgate'), NAMES, { mode: 0o755 })
  const env = {
    PATH: `${home}:${process.env['PATH']}`,
    HOME: home,
    TERM: 'dumb',
    LC_ALL: 'C.UTF-8',
  }
  const printed = await execute(name, [...call(script)], { cwd: folder, env })
  assert.deepEqual((await readdir(folder)).toSorted(), ['a file', 'folder'])
  return printed.stdout
}

const SHELLS: readonly (readonly [string, (t: TestContext, typed: string) => Promise<string[]>])[] =
  [
    [
      'bash',
      async (t, typed) => {
        // As readline splits a line, where "=" is a word.
        const words = ['clipgate', ...typed.split(/ |(?==)|(?<==)/)]
        const args = (script: string) => ['--norc', helper('complete.bash'), script, ...words]
        return (await complete(t, 'bash', args)).replaceAll('\\', '').split('\n')
      },
    ],
    [
      'zsh',
      async (t, typed) => {
        const args = (script: string) => ['-f', helper('complete.zsh'), script, `clipgate ${typed}`]
        const screen = await complete(t, 'zsh', args)
        return [...screen.matchAll(/^match (.*?)\r?$/gm)].map(([, match = '']) => match)
      },
    ],
    [
      'fish',
      async (t, typed) => {
        const lines = 'source $argv[1]; complete -C $argv[2]'
        const args = (script: string) => ['--no-config', '-c', lines, script, `clipgate ${typed}`]
        const matches = (await complete(t, 'fish', args)).split('\n')
        return matches.map((line) => line.replace(/\t.*/, '').replace(/^--clipboard=|\/$|\\/g, ''))
      },
    ],
  ]

for (const [name, ask] of SHELLS) {
  describe(`clipgate completion ${name}`, needs(name), () => {
    for (const [typed, offered] of LINES) {
      it(`offers what can follow "clipgate ${typed}"`, async (t) => {
        const matches = (await ask(t, typed)).filter((match) => match !== '')
        assert.deepEqual([...new Set(matches)].sort(), [...offered].sort())
      })
    }

    it('offers no second name to a command that takes one', async (t) => {
      for (const typed of FULL) {
        const matches = await ask(t, typed)
        assert.deepEqual(
          matches.filter((match) => match !== '' && !match.startsWith('-')),
          [],
          typed,
        )
      }
    })
  })
}

describe('clipgate completion', () => {
  it('knows three shells', async () => {
    const { code, errors } = await runCommand(['completion', 'csh'])
    const line =
      'Cannot run "completion": it takes another word; usage: clipgate completion bash|zsh|fish; ' +
      'did you mean "clipgate completion zsh"?'
    assert.deepEqual([code, errors], [2, [line]])
  })
})

describe('clipgate help --man', () => {
  const page = runCommand(['help', '--man'])

  it('explains every command, option and setting', async () => {
    const { code, stdout } = await page
    assert.equal(code, 0)
    const text = stdout.replaceAll('\\-', '-').replaceAll('\\(dq', '"')
    for (const { usage, summary, options } of Object.values(COMMANDS)) {
      assert.ok(text.includes(`.SS "${usage}"`), usage)
      assert.ok(text.includes(summary.slice(1)), summary)
      for (const name of Object.keys(options)) assert.ok(text.includes(`\\fB--${name}\\fR`), name)
    }
    for (const name of Object.keys(SETTING_OPTIONS)) {
      assert.ok(text.includes(`\\fB--${name}\\fR`), name)
    }
  })

  it('is understood in every line', needs('groff'), async (t) => {
    const path = join(await temporaryFolder(t), 'clipgate.1')
    await writeFile(path, (await page).stdout)
    const { stdout, stderr } = await execute('groff', ['-ww', '-rLL=72n', '-man', '-Tutf8', path])
    assert.equal(stderr, '')
    assert.match(stdout, /clipgate - one clipboard/)
  })
})
