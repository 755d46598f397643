import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { findCommand } from '../../src/cli/commands.ts'
import { isSettingName } from '../../src/daemon/settings.ts'
import { needs } from '../support/requirements.ts'
import {
  callsOf,
  readRecipe,
  RECIPES,
  ROOT,
  settingsOf,
  STARTERS,
  throughPython,
  variablesOf,
} from './support/recipes.ts'

const README = readFileSync(join(ROOT, 'deploy/README.md'), 'utf8')
const INSTALL = readFileSync(join(ROOT, 'docs/guides/install.md'), 'utf8')

const SERVER = readFileSync(join(ROOT, 'docs/guides/server.md'), 'utf8')
const SERVICE = readFileSync(join(ROOT, 'src/cli/service/windows.ts'), 'utf8')

const GRACE_S = 8

it('the recipes are all described', () => {
  const missing = RECIPES.filter((path) => !README.includes(path))
  assert.deepEqual(missing, [])
})

it('the recipes start the daemon in each place that they are for', () => {
  assert.deepEqual(STARTERS, [
    'Dockerfile',
    'launchd/clipgate.plist',
    'openrc/clipgate',
    'openwrt/clipgate',
    'systemd/system/clipgate.service',
    'systemd/user/clipgate.service',
    'termux/clipgate/run',
    'windows/clipgate-task.xml',
  ])
})

for (const path of STARTERS) {
  it(`the recipes give it settings that it has: ${path}`, () => {
    const text = readRecipe(path)
    for (const args of callsOf(text)) settingsOf(args, variablesOf(text))
  })
}

for (const path of STARTERS) {
  it(`the recipes give Node no option that makes each start slower: ${path}`, () => {
    assert.doesNotMatch(readRecipe(path), /NODE_OPTIONS|--max-|--stack-/)
  })
}

it('the recipes use a clipboard on desktops, and none on servers', () => {
  const seen = STARTERS.map((path) => {
    const text = readRecipe(path)
    const { headless, clipboard } = settingsOf(callsOf(text)[0] ?? [], variablesOf(text))
    return [path.split('/').slice(0, -1).join('/'), headless || clipboard === 'none']
  })
  assert.deepEqual(Object.fromEntries(seen), {
    '': true,
    launchd: false,
    openrc: true,
    openwrt: true,
    'systemd/system': true,
    'systemd/user': false,
    'termux/clipgate': true,
    windows: false,
  })
})

const scripts = RECIPES.filter((path) => readRecipe(path).startsWith('#!'))
it('the recipes are shell scripts that a shell can read', needs('dash'), () => {
  assert.ok(scripts.length >= 5, `these are scripts: ${scripts.join()}`)
  for (const path of scripts) execFileSync('dash', ['-n', join(ROOT, 'deploy', path)])
})

describe('docs/guides/install.md', () => {
  it('uses settings that there are', () => {
    const calls = callsOf(INSTALL)
    assert.ok(calls.length > 0, 'it starts a daemon somewhere')
    for (const args of calls) settingsOf(args, variablesOf(INSTALL))
  })

  it('uses commands that there are', () => {
    const code = INSTALL.match(/```.*?```|`[^`]+`/gs) ?? []
    // Other programs take the name of the service, the user and the container.
    const call = /(?:^`?|`|\/bin\/|exec (?:-it )?clipgate |[A-Z]=\S+ |, )clipgate ([a-z]+)/gm
    const used = code.flatMap((part) => [...part.matchAll(call)].map(([, name = '']) => name))
    assert.deepEqual(
      ['service', 'status', 'pair'].filter((name) => !used.includes(name)),
      [],
    )
    assert.deepEqual(
      used.filter((name) => findCommand(name) === undefined),
      [],
    )
  })

  it('begins with a line for each system', () => {
    const [first = ''] = INSTALL.split('\n## ', 1)
    const rows = first.split('\n').map((line) => line.split('|'))
    for (const system of ['Debian', 'Linux', 'Windows', 'macOS', 'containers', 'Node 20.19']) {
      const [, , line = ''] = rows.find(([, name]) => name?.includes(system)) ?? []
      assert.match(line, /^ `[^`]*clipgate[-_]\d[^`]*`/, system)
    }
  })
})

it('docs/guides/server.md has config files that are some', () => {
  const blocks = [...SERVER.matchAll(/```json\n(.*?)```/gs)].map(([, json = '']) => json)
  const names = blocks.flatMap((json) => Object.keys(JSON.parse(json)))
  assert.ok(names.length > 0, 'it shows one')
  assert.deepEqual(
    names.filter((name) => !isSettingName(name)),
    [],
  )
})

describe('the launchd agent', needs('python3'), () => {
  it('is a property list that starts, restarts and stops the daemon as it should be', async () => {
    const text = readRecipe('launchd/clipgate.plist')
    const lines = 'import plistlib\nprint(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'
    const agent = Object(await throughPython(lines, text))
    assert.deepEqual(agent.ProgramArguments, ['/usr/bin/env', 'clipgate', 'serve'])
    assert.deepEqual(agent.KeepAlive, { SuccessfulExit: false })
    assert.equal(agent.LimitLoadToSessionType, 'Aqua')
    assert.ok(agent.ExitTimeOut > 2 * GRACE_S, 'both listeners have their time')
  })
})

describe('the Windows task', needs('python3'), () => {
  it('is XML, and runs in the session of its user for as long as that lasts', async () => {
    const lines = [
      'from xml.etree import ElementTree',
      'tree = ElementTree.fromstring(sys.stdin.buffer.read())',
      'print(json.dumps({e.tag.partition("}")[2]: (e.text or "").strip() for e in tree.iter()}))',
    ]
    const text = readRecipe('windows/clipgate-task.xml')
    const task = Object(await throughPython(lines.join('\n'), text))
    assert.equal(task.ExecutionTimeLimit, 'PT0S')
    assert.equal(task.LogonType, 'InteractiveToken')
    assert.equal(task.RunLevel, 'LeastPrivilege')
    assert.equal(task.UserId, 'USER_ID')
    // It is registered from a string, whose encoding is another one than that of the file.
    assert.match(text, /^<\?xml version="1\.0"\?>/)
    for (const blank of ['USER_ID', 'NODE_PROGRAM', 'CLIPGATE_MAIN']) {
      assert.ok(SERVICE.includes(`${blank}: `), `${blank} is filled in when it is registered`)
    }
  })
})
