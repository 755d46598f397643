import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { configFolder } from '../../src/daemon/folders.ts'
import { ROOT, throughPython } from '../deploy/support/recipes.ts'
import { verifyUnit } from '../deploy/support/verify-unit.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { execute } from '../support/execute.ts'
import { fakeNotifySend } from '../support/fake-notify-send.ts'
import { PROGRAM } from '../support/program.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { runCommand, type TestShellOptions } from '../support/test-shell.ts'

const MAIN = join(ROOT, 'dist/cli/main.js')

/** Each remembers, between its calls, what was installed, and starts a real daemon. */
const SYSTEMCTL = `
case "$*" in
  "--user show --property=ActiveState graphical-session.target") echo ActiveState=active ;;
  "--user show "*)
    if [ -e active ]; then echo ActiveState=active; else echo ActiveState=inactive; fi
    if [ -e enabled ]; then
      printf 'UnitFileState=enabled\nWantedBy=%s\n' "$(cat enabled)"
      echo FragmentPath=${'$'}XDG_CONFIG_HOME/systemd/user/clipgate.service
    fi ;;
  "--user show-environment") echo LANG=C ;;
  "--user daemon-reload") ;;
  "--user reenable clipgate.service")
    sed -n 's/^WantedBy=//p' "${'$'}XDG_CONFIG_HOME/systemd/user/clipgate.service" >enabled ;;
  "--user restart clipgate.service") bin/stop; bin/start ;;
  "--user stop clipgate.service") bin/stop ;;
  "--user disable clipgate.service") rm enabled ;;
  *) exit 64 ;;
esac`

const LAUNCHCTL = `
case "$1" in
  print) [ -e active ] && echo "	state = running" ;;
  enable) ;;
  bootstrap) bin/start ;;
  bootout) bin/stop ;;
  *) exit 64 ;;
esac`

const POWERSHELL = `
case "$4" in
  *Register-ScheduledTask*) bin/stop; bin/start; printf %s "$SERVICE_TASK" >task.xml ;;
  *Unregister-ScheduledTask*) bin/stop ;;
  *.State*) if [ -e active ]; then echo Running; fi ;;
  *) exit 64 ;;
esac`

interface Desktop {
  readonly home: string
  readonly options: TestShellOptions
  /** The command line of each call of the fake. */
  calls(): Promise<readonly string[]>
}

interface DesktopOptions {
  readonly platform?: NodeJS.Platform
  readonly environment?: Readonly<Record<string, string>>
}

/** A user's surroundings, in which a fake starts programs. */
async function openDesktop(
  t: TestContext,
  program: string,
  script: string,
  { platform = 'linux', environment: more }: DesktopOptions = {},
): Promise<Desktop> {
  let stop = (): void => undefined
  t.after(() => stop())
  const home = await temporaryFolder(t)
  const dataDir = join(home, 'data')
  const write = async (name: string, lines: readonly string[]): Promise<void> => {
    const path = join(home, 'bin', name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, ['#!/bin/sh', `cd '${home}'`, ...lines].join('\n'), { mode: 0o755 })
  }
  const words = [process.execPath, ...PROGRAM].map((word) => `'${word}'`)
  const clipgate = `cd '${ROOT}'; exec ${words.join(' ')}`
  const settings = `--headless --listen 127.0.0.1:0 --control 127.0.0.1:0 --data-dir '${dataDir}'`
  await write('start', [
    `(${clipgate} serve ${settings}) </dev/null >log 2>&1 &`,
    'echo $! >active',
  ])
  await write('stop', [
    'if [ ! -e active ]; then exit 0; fi',
    `(${clipgate} stop --data-dir '${dataDir}') >/dev/null`,
    'rm active',
  ])
  await write(program, ['printf "%s\\n" "$*" >>calls', script])
  stop = () => void execFileSync(join(home, 'bin/stop'))

  const environment = {
    PATH: `${home}/bin:/usr/bin:/bin`,
    XDG_CONFIG_HOME: join(home, 'config'),
    APPDATA: join(home, 'roaming'),
    SystemRoot: join(home, 'bin'),
    USERDOMAIN: 'HERE',
    USERNAME: 'R&D <me>',
    ...more,
  }
  const config = configFolder({ platform, home, environment })
  await mkdir(config, { recursive: true })
  await writeFile(join(config, 'config.json'), JSON.stringify({ dataDir }))
  return {
    home,
    options: { home, environment, platform },
    calls: async () => (await readFile(join(home, 'calls'), 'utf8')).trimEnd().split('\n'),
  }
}

const service = (action: string, { options }: Desktop, ...more: readonly string[]) =>
  runCommand(['service', action, ...more], options)

describe('clipgate service, with systemd', () => {
  const open = (
    t: TestContext,
    script = SYSTEMCTL,
    environment: Readonly<Record<string, string>> = { DISPLAY: ':0' },
  ) => openDesktop(t, 'systemctl', script, { environment })
  const fileOf = ({ home }: Desktop) => join(home, 'config/systemd/user/clipgate.service')
  const entryOf = ({ home }: Desktop) => join(home, '.local/share/applications/clipgate.desktop')

  it('is installed, seen, installed again, and removed without a trace', async (t) => {
    const desktop = await open(t)
    const file = fileOf(desktop)
    const seen = async () => JSON.parse((await service('status', desktop, '--json')).stdout)
    const nothing = { installed: false, running: false, file: null, advice: [] }
    assert.deepEqual(await seen(), nothing)
    for (const _ of ['first', 'again']) {
      const { code, stdout, stderr } = await service('install', desktop)
      assert.deepEqual([code, stderr], [0, ''])
      assert.equal(
        stdout,
        'Installed: clipgate starts by itself when you log in.\nIt runs.\n' +
          `File: ${file}\nIn the menu of the desktop, clipgate opens the panel.\n` +
          'To add a phone: clipgate pair\n',
      )
      assert.ok(existsSync(entryOf(desktop)))
      assert.deepEqual(await seen(), { installed: true, running: true, file, advice: [] })
    }
    assert.match((await service('remove', desktop)).stdout, /^Removed: /)
    assert.deepEqual([existsSync(file), existsSync(entryOf(desktop))], [false, false])
    assert.deepEqual(await seen(), nothing)
    assert.equal((await service('remove', desktop)).stdout, 'There was no service to remove.\n')
  })

  it('starts what was written only after systemd has read it', async (t) => {
    const desktop = await open(t)
    await service('install', desktop)
    const changes = (await desktop.calls()).filter((call) => !call.includes(' show'))
    assert.deepEqual(changes, [
      '--user daemon-reload',
      '--user reenable clipgate.service',
      '--user restart clipgate.service',
    ])
  })

  it('runs this Node by its name on the path, and systemd understands the unit', async (t) => {
    const strange = join(await temporaryFolder(t), 'a %d $e (f)')
    await mkdir(strange)
    await symlink(process.execPath, join(strange, 'node'))
    // A folder of one terminal, as fnm makes it.
    const passing = join(await temporaryFolder(t), 'terminal')
    await symlink(strange, passing)
    const desktop = await open(t)
    const { PATH, ...environment } = desktop.options.environment ?? {}
    const options = {
      ...desktop.options,
      environment: { ...environment, PATH: `${passing}:${strange}:${PATH}` },
    }
    assert.equal((await runCommand(['service', 'install'], options)).code, 0)
    const unit = await readFile(fileOf(desktop), 'utf8')
    assert.match(unit, /^ExecStart=".*\/a %%d \$e \(f\)\/node" ".*" serve$/m)
    assert.ok(unit.includes(` "${MAIN}" serve\n`))
    if (needs('systemd-analyze').skip === false) {
      assert.equal(await verifyUnit(t, '--user', unit), '')
      const missing = unit.replace('/node" ', '/nothing" ')
      assert.match(await verifyUnit(t, '--user', missing), /not executable/)
    }
    if (needs('gio').skip === false) {
      const { home } = desktop
      const { path, calls } = await fakeNotifySend(t, 0, 'xdg-open')
      const env = { ...options.environment, DISPLAY: ':0', HOME: home, PATH: path }
      await execute('gio', ['launch', entryOf(desktop)], { env })
      assert.deepEqual(await calls.next(), [join(home, 'data/open-panel.html')])
    }
  })

  it('leaves an entry of the menu alone that is not its own', async (t) => {
    const desktop = await open(t)
    const entry = entryOf(desktop)
    await mkdir(dirname(entry), { recursive: true })
    await writeFile(entry, '[Desktop Entry]\n')
    await service('remove', desktop)
    assert.equal(await readFile(entry, 'utf8'), '[Desktop Entry]\n')
  })

  it('waits for no display where there is none, and says that it ends with the login', async (t) => {
    const forwarded = { DISPLAY: 'localhost:10.0', SSH_CONNECTION: '10.0.0.2 1 10.0.0.1 22' }
    for (const environment of [{}, forwarded]) {
      const desktop = await open(t, SYSTEMCTL, environment)
      assert.match((await service('install', desktop)).stdout, /loginctl enable-linger/)
      const unit = await readFile(fileOf(desktop), 'utf8')
      assert.match(unit, /^WantedBy=default\.target$/m)
      assert.equal(existsSync(entryOf(desktop)), false)
      assert.doesNotMatch(unit, /graphical|DISPLAY/)
      if (needs('systemd-analyze').skip === false) {
        assert.equal(await verifyUnit(t, '--user', unit), '')
      }
    }
  })

  it('names variables that the service will not have', async (t) => {
    const desktop = await open(t, SYSTEMCTL, { DISPLAY: ':0', CLIPGATE_LOG_LEVEL: 'debug' })
    assert.match((await service('install', desktop)).stdout, /^CLIPGATE_LOG_LEVEL is set here,/m)
  })

  it('neither begins beside a daemon that was started otherwise, nor ends it', async (t) => {
    const desktop = await open(t)
    // On the data directory of the desktop.
    await startDaemonProcess(t, { folder: desktop.home, args: ['--headless'] })
    const { code, errors } = await service('install', desktop)
    assert.equal(code, 1)
    assert.match(errors.join('\n'), /^Cannot start the service .*: clipgate stop$/)
    assert.equal(existsSync(fileOf(desktop)), false)
    const { stdout } = await service('remove', desktop)
    assert.match(
      stdout,
      /^There was no service to remove\.\nclipgate runs on: .*: clipgate stop\n$/,
    )
  })

  it('is removed although its settings cannot be read, and says that', async (t) => {
    const desktop = await open(t)
    await service('install', desktop)
    await execute('sh', [join(desktop.home, 'bin/stop')])
    await writeFile(join(desktop.home, 'config/clipgate/config.json'), '{"grace":"soon"}')
    const { code, stdout } = await service('remove', desktop)
    assert.equal(code, 0)
    assert.match(stdout, /^Removed: .*\n.*grace.*\n$/)
    assert.equal(existsSync(fileOf(desktop)), false)
  })

  it('says how to find out why it does not run', async (t) => {
    const desktop = await open(t, SYSTEMCTL.replace('bin/stop; bin/start', 'true'))
    const { code, stdout } = await service('install', desktop)
    assert.equal(code, 0)
    assert.match(stdout, /does not run now; to see why: journalctl --user -u clipgate/)
  })

  it('does not start with settings that the daemon would refuse', async (t) => {
    const desktop = await open(t)
    await writeFile(join(desktop.home, 'config/clipgate/config.json'), '{"grace":"soon"}')
    const { code, errors } = await service('install', desktop)
    assert.equal(code, 1)
    assert.match(errors.join('\n'), /grace/)
    assert.equal(existsSync(fileOf(desktop)), false)
  })

  it('writes nothing, and says what to do, where systemd does not serve this user', async (t) => {
    const desktop = await open(t, 'echo "Failed to connect to bus: No medium found" >&2; exit 1')
    for (const action of ['install', 'remove', 'status']) {
      const { code, stdout, errors } = await service(action, desktop)
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(errors.join('\n'), /No medium found\. Log in as this user itself, .*install\.md/)
    }
    assert.equal(existsSync(fileOf(desktop)), false)
  })

  it('says so where there is no systemd', async (t) => {
    const desktop = await open(t)
    const environment = { ...desktop.options.environment, PATH: join(desktop.home, 'nothing') }
    for (const action of ['install', 'remove', 'status']) {
      const options = { ...desktop.options, environment }
      const { code, errors } = await runCommand(['service', action], options)
      assert.equal(code, 1)
      assert.match(errors.join('\n'), /^Cannot reach what starts .* no systemctl; .*install\.md/)
    }
  })

  it('is called with one of three words', async () => {
    assert.equal((await runCommand(['service', 'start'])).code, 2)
    assert.equal((await runCommand(['service'])).code, 2)
    const { stderr } = await runCommand(['service', 'instal'])
    assert.match(
      stderr,
      /: clipgate service install\|remove\|status; did you mean "clipgate service install"\?/,
    )
  })
})

describe('clipgate service, with launchd', needs('python3'), () => {
  it('is installed, seen and removed', async (t) => {
    const desktop = await openDesktop(t, 'launchctl', LAUNCHCTL, { platform: 'darwin' })
    const file = join(desktop.home, 'Library/LaunchAgents/clipgate.plist')
    for (const _ of ['first', 'again']) {
      const { stdout, stderr } = await service('install', desktop)
      assert.equal(stderr, '')
      assert.match(stdout, /^Installed: .*\nIt runs\.\n/)
    }
    const lines = 'import plistlib\nprint(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'
    const agent = Object(await throughPython(lines, await readFile(file, 'utf8')))
    assert.deepEqual(agent.ProgramArguments.slice(1), [MAIN, 'serve'])
    assert.equal(agent.StandardErrorPath, join(desktop.home, 'Library/Logs/clipgate.log'))
    const domain = `gui/${process.getuid?.()}`
    const changes = (await desktop.calls()).filter((call) => !call.startsWith('print '))
    assert.deepEqual(changes, [
      `enable ${domain}/clipgate`,
      `bootstrap ${domain} ${file}`,
      `bootout ${domain}/clipgate`,
      `enable ${domain}/clipgate`,
      `bootstrap ${domain} ${file}`,
    ])
    assert.match((await service('remove', desktop)).stdout, /^Removed: /)
    assert.equal(existsSync(file), false)
    assert.match((await service('status', desktop)).stdout, /^Not installed/)
  })
})

describe('clipgate service, on Windows', needs('python3'), () => {
  it('is installed, seen and removed', async (t) => {
    const program = 'System32/WindowsPowerShell/v1.0/powershell.exe'
    const desktop = await openDesktop(t, program, POWERSHELL, { platform: 'win32' })
    assert.match((await service('install', desktop)).stdout, /^Installed: .*\nIt runs\.\nTo add/)
    const lines = [
      'from xml.etree import ElementTree',
      'tree = ElementTree.fromstring(sys.stdin.read())',
      'print(json.dumps([[e.tag.partition("}")[2], (e.text or "").strip()] for e in tree.iter()]))',
    ]
    const xml = await readFile(join(desktop.home, 'task.xml'), 'utf8')
    const values = new Map(Object(await throughPython(lines.join('\n'), xml)))
    assert.equal(values.get('UserId'), 'HERE\\R&D <me>')
    const args = String(values.get('Arguments'))
    assert.ok(args.endsWith(`"${MAIN}" serve --json`), args)
    assert.match((await service('remove', desktop)).stdout, /^Removed: /)
    assert.match((await service('status', desktop)).stdout, /^Not installed/)
  })
})
