import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { COMMANDS } from '../../src/cli/commands.ts'
import { displayWidth } from '../../src/cli/text-table.ts'
import { SETTING_NAMES } from '../../src/daemon/settings.ts'
import { toOption } from '../../src/daemon/load-settings.ts'
import { readVersion } from '../../src/daemon/version.ts'
import { formatConnectLink } from '../../src/link/connect-link.ts'
import { runCommand } from '../support/test-shell.ts'

const SECRET = 'hunter2hunter2'

describe('clipgate', () => {
  it('explains itself, and every command', async () => {
    for (const args of [['help'], ['--help'], ['-h']]) {
      const { code, stdout, stderr } = await runCommand(args)
      assert.deepEqual([code, stderr], [0, ''])
      for (const { usage } of Object.values(COMMANDS)) assert.ok(stdout.includes(usage), usage)
      for (const line of stdout.split('\n')) assert.ok(displayWidth(line) <= 80, line)
    }
    for (const [name, { usage, summary }] of Object.entries(COMMANDS)) {
      const { code, stdout } = await runCommand(['help', name])
      assert.equal(code, 0)
      assert.ok(stdout.startsWith(`Usage: clipgate ${usage}`))
      assert.ok(stdout.replaceAll('\n', ' ').includes(summary.slice(1)), summary)
      assert.equal((await runCommand([name, '--help', '--nonsense', 'x', 'y'])).stdout, stdout)
      for (const line of stdout.split('\n')) assert.ok(displayWidth(line) <= 80, line)
    }
  })

  it('shows calls of every command that takes anything', () => {
    for (const [name, { examples = [], usage }] of Object.entries(COMMANDS)) {
      if (name !== 'version') assert.ok(examples.length > 0, usage)
      for (const line of examples) assert.match(line, new RegExp(`clipgate ${name}\\b`))
    }
  })

  it('fits its help into the terminal, and into lines that can be read', async () => {
    for (const [columns, width] of [
      [40, 40],
      [70, 70],
      [300, 100],
    ] as const) {
      for (const args of [['help'], ['push', '--help'], ['help', 'doctor']]) {
        const { stdout } = await runCommand(args, { columns })
        // Examples and usages are as long as they are.
        const text = stdout.split('\n').filter((line) => !/^( {2}| *Usage:).*clipgate /.test(line))
        const longest = Math.max(...text.map(displayWidth))
        assert.ok(longest <= width && longest > width - 15, `${args.join(' ')}: ${longest}`)
      }
    }
  })

  it('explains every setting', async () => {
    const { stdout } = await runCommand(['help', 'serve'])
    for (const name of SETTING_NAMES) assert.match(stdout, new RegExp(`  ${toOption(name)}\\s`))
  })

  it('prints its version', async () => {
    for (const args of [['version'], ['--version'], ['-V']]) {
      assert.deepEqual(await runCommand(args), {
        code: 0,
        stdout: `clipgate ${readVersion()}\n`,
        stderr: '',
        errors: [],
      })
    }
    assert.match(readVersion(), /^\d+\.\d+\.\d+/)
  })

  it('exits with 2 and one line about what was called wrongly', async () => {
    const calls: readonly (readonly [readonly string[], RegExp])[] = [
      [['nonsense'], /^Cannot run "nonsense".*clipgate help/],
      [[`clip://connect?p=${SECRET}`], /^Cannot run that/],
      [['constructor'], /no such command/],
      [['help', 'nonsense'], /none of this name/],
      [['rotate'], /: ID is missing; usage: clipgate rotate ID$/],
      [['group'], /: new\|import\|leave is missing/],
      [['help', 'psuh'], /did you mean "push"\?$/],
      [['link', 'decode', `clip://connect?p=${SECRET}`], /too many; a connect link comes on stdin/],
      [['push', `clip://connect?p=${SECRET}`], /: a connect link comes on stdin, .* --link-file$/],
      [['revoke', 'a', SECRET], /an argument too many/],
      [['devices', SECRET], /an argument too many/],
      [['psuh'], /"psuh": there is no such command; did you mean "clipgate push"\?$/],
      [['-v'], /^Cannot run "-v": options come behind a command; see "clipgate help"$/],
      [['--json', 'status'], /^Cannot run "--json": options come behind a command/],
      [['Status'], /did you mean "clipgate status"\?$/],
      [['devices', '--jsno', SECRET], /--jsno: there is no such option; did you mean --json\?$/],
      [['revoke', '--jsno', 'a'], /did you mean --json\?$/],
      [['pull', '--datadir', 'a'], /did you mean --data-dir\?$/],
      [['pair', '--password', '--json'], /no such option; did you mean --password-stdin\?$/],
      [['pair', `--password=${SECRET}`], /--password: there is no such option/],
      [['pair', '--kind', 'fridge'], /--kind: it must be phone or peer/],
      [['pair', '--url', `http://u:${SECRET}@host`], /--url: it must be an http/],
      [['serve', '--nonsense'], /--nonsense: there is no such option; see --help$/],
      [['link', 'encode'], /link decode/],
      [['link', 'decode', '--nonsense'], /--nonsense/],
      [['serve', '--control', '0.0.0.0:1'], /--control: it must be a loopback address/],
    ]
    for (const [args, message] of calls) {
      const { code, stdout, stderr, errors } = await runCommand(args)
      assert.equal(code, 2, args.join(' '))
      assert.equal(stdout, '')
      assert.equal(errors.length, 1, stderr)
      assert.match(errors[0] ?? '', message)
      assert.ok(!stderr.includes(SECRET))
    }
  })

  it('shows the help to whoever calls it with nothing', async () => {
    const { code, stdout, errors } = await runCommand([])
    assert.equal(code, 2)
    assert.match(stdout, /Usage: clipgate COMMAND/)
    assert.equal(errors.length, 1)
  })

  it('names every problem of arguments and settings at once', async () => {
    const environment = { CLIPGATE_GRACE: 'x', CLIPGATE_NONSENSE: '1' }
    const args = ['serve', '--what', '--listen', 'a', '--heartbeat', '1h', 'extra']
    const { code, errors } = await runCommand(args, { environment })
    assert.equal(code, 2)
    assert.deepEqual(
      errors.map((line) => line.split(':')[0]),
      [
        'Cannot use --what',
        'Cannot run "serve"',
        'Cannot use CLIPGATE_GRACE',
        'Cannot use CLIPGATE_NONSENSE',
        'Cannot use --listen',
        'Cannot use --heartbeat',
      ],
    )
  })

  it('exits with 1 when only the surroundings are wrong', async () => {
    const { code, errors } = await runCommand(['status'], {
      environment: { CLIPGATE_NONSENSE: '1', CLIPGATE_GRACE: 'x' },
    })
    assert.equal(code, 1)
    assert.equal(errors.length, 2)
  })

  it('shows control characters in what it complains about', async () => {
    const { stderr } = await runCommand(['serve', '--log-level', 'a\u001b[2J\u202eb'])
    assert.match(stderr, /\\u\{1b\}|\\u001b/)
    assert.doesNotMatch(stderr.trimEnd(), /[\u0000-\u001f\u202e]/)
  })

  it('needs no settings for commands that take none', async () => {
    const environment = { CLIPGATE_NONSENSE: '1' }
    assert.equal((await runCommand(['version'], { environment })).code, 0)
  })
})

describe('clipgate link decode', () => {
  const link = formatConnectLink({
    url: 'http://192.168.1.20:42720',
    user: 'my_phone',
    pwd: SECRET,
    o: { label: 'Evil \u001b[2J\u202e phone', proto: 'syncclipboard', exp: SECRET },
  })

  it('prints what a link holds, without its password', async () => {
    const { code, stdout } = await runCommand(['link', 'decode'], { stdin: `${link}\r\nmore` })
    assert.equal(code, 0)
    assert.match(stdout, /^url {5}http:\/\/192\.168\.1\.20:42720$/m)
    assert.match(stdout, /^user {4}my_phone$/m)
    assert.match(stdout, /Evil \\u\{1b\}\[2J\\u\{202e\} phone/)
    assert.ok(!stdout.includes(SECRET))
  })

  it('prints one JSON object for scripts', async () => {
    const { stdout } = await runCommand(['link', 'decode', '--json'], { stdin: link })
    assert.deepEqual(JSON.parse(stdout), {
      v: 1,
      url: 'http://192.168.1.20:42720',
      user: 'my_phone',
      o: { label: 'Evil \u001b[2J\u202e phone', proto: 'syncclipboard' },
    })
    assert.doesNotMatch(stdout.trimEnd(), /[\u0000-\u001f\u202e\n]/)
  })

  it('exits with 1 and the code of what is wrong, without quoting it', async () => {
    const broken: readonly (readonly [string | Uint8Array, RegExp])[] = [
      [`https://${SECRET}`, /INVALID_SCHEME: .* must begin with "clip:\/\/connect\?"/],
      [`clip://connect?v=1&svc=mobile-sync&p=${SECRET}!`, /PAYLOAD_DECODE_FAILED/],
      [link.replace('v=1', 'v=2'), /UNSUPPORTED_VERSION/],
      ['', /there is none on stdin/],
      ['\n', /there is none on stdin/],
      [Buffer.from([0xff, 0xfe]), /not UTF-8/],
      ['x'.repeat(100_000), /too long/],
    ]
    for (const [stdin, message] of broken) {
      const { code, stdout, stderr, errors } = await runCommand(['link', 'decode'], { stdin })
      assert.equal(code, 1)
      assert.equal(stdout, '')
      assert.equal(errors.length, 1)
      assert.match(stderr, message)
      assert.ok(!stderr.includes(SECRET))
    }
  })
})
