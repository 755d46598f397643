import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { Finding } from '../../src/doctor/finding.ts'
import { formatConnectLink } from '../../src/link/connect-link.ts'
import { serveQuickGateway } from '../doctor/support/quick-gateway.ts'
import { startStandIn } from '../doctor/support/stand-in.ts'
import { isolatedEnvironment, startDaemonProcess } from '../support/daemon-process.ts'
import { defer } from '../support/defer.ts'
import { holdDataDirectory, serveControl } from '../support/held-data-directory.ts'
import { PROGRAM } from '../support/program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { runCommand, type TestShellOptions } from '../support/test-shell.ts'

/** A path behind the columns of a row, of which none is broken. */
const PATH = / {2}(?:\/|[A-Z]:\\)/

/** A row with a command alone, in one piece as well. */
const COMMAND = /^ +(?:-> )?(?:clipgate|sudo) [^,;]+$/

/** The options of a node that has nothing to complain about. */
const PLAIN = ['--headless', '--listen', '127.0.0.1:0', '--control', '127.0.0.1:0']

async function runDoctor(
  t: TestContext,
  args: readonly string[],
  options: TestShellOptions = {},
  dataDir?: string,
) {
  const folder = dataDir ?? join(await temporaryFolder(t), 'data')
  return runCommand(['doctor', ...PLAIN, '--data-dir', folder, ...args], options)
}

function parse(stdout: string): readonly Finding[] {
  assert.match(stdout, /^[^\n]+\n$/, 'one line')
  return JSON.parse(stdout)
}

function problemsIn(stdout: string): readonly string[] {
  return parse(stdout).flatMap(({ check, ok }) => (ok ? [] : [check]))
}

describe('clipgate doctor', () => {
  it('judges the settings of the daemon that runs, which it was not told', async (t) => {
    const url = 'https://clip.example.net'
    const room = ['--min-free-bytes', '1000000GiB', '--max-connections', '1000000']
    const args = ['--headless', '--public-url', url, '--verify-workers', '64', ...room]
    const daemon = await startDaemonProcess(t, { args })
    const { stdout } = await daemon.run('doctor', '--json').catch((error) => error)
    const details = new Map(parse(stdout).map(({ check, detail }) => [check, String(detail)]))
    assert.match(details.get('addresses') ?? '', /links name https:\/\/clip\.example\.net/)
    assert.match(details.get('disk') ?? '', /uploads are refused below/)
    assert.match(details.get('descriptors') ?? '', /and not 1000000|cannot be seen/)
    assert.match(details.get('memory') ?? '', /passwords take up to 4\.\d GiB/)
  })

  it('prints one array for scripts, and exits with 0 when there is no problem', async (t) => {
    const { code, stdout, stderr } = await runDoctor(t, ['--json'])
    assert.deepEqual([code, stderr], [0, ''], stdout)
    const findings = parse(stdout)
    assert.ok(findings.length > 10, stdout)
    for (const finding of findings) {
      assert.deepEqual(Object.keys(finding), ['check', 'ok', 'detail', 'fix'])
      const { check, ok, detail, fix } = finding
      assert.match(check, /^[a-z]+(-[a-z]+)*$/)
      assert.deepEqual([ok, typeof detail], [true, 'string'])
      assert.ok(fix === null || (typeof fix === 'string' && fix !== ''), stdout)
    }
    const names = findings.map(({ check }) => check)
    assert.equal(new Set(names).size, names.length, 'each name once')
  })

  it('shows people a word for each check, the fix below it, and the sum at the end', async (t) => {
    const { code, stdout } = await runDoctor(t, ['--public-url', 'http://localhost'])
    assert.equal(code, 1)
    const lines = stdout.split('\n')
    assert.match(lines[0] ?? '', /^ok {7}settings {10}can be used$/)
    const at = lines.findIndex((line) => line.startsWith('PROBLEM  addresses '))
    assert.match(lines[at + 1] ?? '', /^ {27}-> set --public-url/)
    assert.ok(
      lines.some((line) => line.startsWith('hint     daemon ')),
      stdout,
    )
    assert.match(stdout, /\n\n1 problem, \d+ hints?: addresses\.\n$/)
    assert.match(
      (await runDoctor(t, [])).stdout,
      /\n\nNo problem found in \d+ checks, \d+ hints?\.\n$/,
    )
  })

  it('breaks lines between words in a terminal, but no command', async (t) => {
    for (const [columns, left] of [
      [40, 6],
      [80, 27],
    ] as const) {
      const args = ['--public-url', 'http://10.255.255.1:42720']
      const { stdout } = await runDoctor(t, args, { columns })
      const indent = ' '.repeat(left)
      const long = stdout.split('\n').filter((line) => line.length > columns)
      assert.deepEqual(
        long.filter((line) => !PATH.test(line) && !COMMAND.test(line)),
        [],
      )
      assert.match(
        stdout,
        new RegExp(`\\n${indent}-> clipgate pair; the first start(?: |\\n {9})on`),
      )
      assert.match(stdout, /^ +(?:-> )?clipgate doctor --through http:\/\/10\.255\.255\.1:42720$/m)
      assert.match(
        stdout.replaceAll(/\s+/g, ' '),
        /run; what follows is what a start would meet ->/,
      )
      assert.match(stdout, new RegExp(`\\n {${left}}\\w.* would meet\\n`))
    }
  })

  it('makes a finding of bad settings, and asks of options to be right', async (t) => {
    const environment = { CLIPGATE_NONSENSE: '1', CLIPGATE_GRACE: '\u001b[2J' }
    const { code, stdout } = await runDoctor(t, ['--json'], { environment })
    const [finding, ...others] = parse(stdout)
    assert.deepEqual([code, finding?.check, finding?.ok, others], [1, 'settings', false, []])
    for (const name of Object.keys(environment)) assert.ok(finding?.detail.includes(name), name)
    const shown = await runDoctor(t, [], { environment })
    assert.doesNotMatch(shown.stdout, /\u001b/)

    for (const args of [['--nonsense'], ['--through', 'x'], ['--grace', 'x'], ['extra']]) {
      const wrong = await runDoctor(t, args)
      assert.deepEqual([wrong.code, wrong.stdout], [2, ''], args.join(' '))
    }
  })

  it('logs in with a link, from a file or stdin, and tells nothing of it', async (t) => {
    const { url, credentials } = await serveQuickGateway(t)
    const link = formatConnectLink({ url, ...credentials })
    const file = join(await temporaryFolder(t), 'link')
    await writeFile(file, link)
    const calls: readonly (readonly [readonly string[], string])[] = [
      [['--link-file', file], ''],
      [['--link-file', '-', '--through', `${url}/`], link],
    ]
    for (const [args, stdin] of calls) {
      const { code, stdout, stderr } = await runDoctor(t, [...args, '--json'], { stdin })
      const findings = parse(stdout)
      assert.deepEqual([code, problemsIn(stdout)], [0, []], stdout)
      assert.equal(findings[0]?.check, 'reach', 'this machine is not looked at')
      const authorization = findings.find(({ check }) => check === 'authorization')
      assert.equal(authorization?.detail, 'the password gets through to clipgate 1.2.3')
      for (const secret of [credentials.pwd, credentials.user, link.slice(40)]) {
        assert.ok(!`${stdout}${stderr}`.includes(secret), 'nothing of the link is told')
      }
    }

    const wrong = formatConnectLink({ url, user: credentials.user, pwd: 'wrong password' })
    const refused = await runDoctor(t, ['--link-file', '-', '--json'], { stdin: wrong })
    assert.deepEqual(problemsIn(refused.stdout), ['authorization'])
    assert.ok(!refused.stdout.includes('wrong password'), 'nothing of the link is told')
  })

  it('says what it needs when nobody can log in', async (t) => {
    const { url } = await serveQuickGateway(t)
    const { code, stdout } = await runDoctor(t, ['--through', url, '--json'])
    assert.deepEqual([code, problemsIn(stdout)], [1, ['authorization']])
    assert.match(stdout, /"fix":"[^"]*--link-file FILE/)

    const missing = await runDoctor(t, ['--link-file', '/nonexistent/link'])
    assert.deepEqual([missing.code, missing.stdout, missing.errors.length], [1, '', 1])
  })

  it('borrows a device of the daemon, and removes what a crash has left', async (t) => {
    const { url, admin, device } = await serveQuickGateway(t)
    const held = await holdDataDirectory(t)
    await serveControl(t, held, admin)
    const add = async (label: string, username: string) => {
      await admin.pair({ kind: 'phone', label, username, password: undefined, url })
    }
    // No process has such a number.
    await add('doctor', 'doctor_4294967_0a1b2c3d')
    await add('doctor', 'my_doctor')
    await add('Phone 2', 'doctor_4294967_0a1b2c3e')
    await add('doctor', `doctor_${process.pid}_0a1b2c3d`)

    const args = ['--through', url, '--json']
    const { stdout, stderr } = await runDoctor(t, args, {}, held.dataDir)
    const fine = parse(stdout).flatMap(({ check, ok }) => (ok ? [check] : []))
    assert.ok(fine.includes('authorization') && fine.includes('events'), stdout)
    assert.doesNotMatch(stdout + stderr, /doctor_\d/)
    assert.deepEqual(
      (await admin.devices()).map(({ username }) => username),
      [device.username, 'my_doctor', 'doctor_4294967_0a1b2c3e', `doctor_${process.pid}_0a1b2c3d`],
    )
  })

  it('gives its device back when it is interrupted', async (t) => {
    const daemon = await startDaemonProcess(t)
    const asked = defer<undefined>()
    const intercept = (): boolean => {
      asked.resolve(undefined)
      return true
    }
    const silent = await startStandIn(t, { upstream: daemon.ready.gateway, fault: { intercept } })
    const args = ['doctor', '--clipboard', 'none', '--through', silent.url]
    const child = spawn(process.execPath, [...PROGRAM, ...args], {
      env: isolatedEnvironment(daemon.folder),
      stdio: 'ignore',
    })
    const exited = once(child, 'exit')
    await Promise.race([asked.promise, exited])
    const labels = async () => {
      const devices: readonly { label: string }[] = JSON.parse(
        (await daemon.run('devices', '--json')).stdout,
      )
      return devices.map(({ label }) => label)
    }
    assert.deepEqual(await labels(), ['doctor'])
    child.kill('SIGINT')
    assert.deepEqual(await exited, [null, 'SIGINT'])
    assert.deepEqual(await labels(), [])
  })
})
