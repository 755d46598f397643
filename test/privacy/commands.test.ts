import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { formatConnectLink } from '../../src/link/connect-link.ts'
import { main } from '../faults/support/subject.ts'
import { serveGateway } from '../support/gateway.ts'
import { Enclosure, type RunOptions, type Shown } from './support/enclosure.ts'
import { secret, secretWord } from './support/secrets.ts'

const MARK = secretWord('link part')

/** A link around a payload. */
function linkOf(payload: string | object, query: string = 'v=1&svc=mobile-sync'): string {
  const json = typeof payload === 'string' ? payload : JSON.stringify(payload)
  return `clip://connect?${query}&p=${Buffer.from(json).toString('base64url')}`
}

const GOOD = { v: 1, url: `http://127.0.0.1:1/${MARK}`, user: MARK, pwd: secret('link part') }

/** A link, and one for each thing that can be wrong with it. */
const BROKEN_LINKS: Readonly<Record<string, string>> = {
  INVALID_SCHEME: linkOf(GOOD).replace('clip:', `${MARK}:`),
  UNSUPPORTED_VERSION: linkOf(GOOD, `v=${MARK}&svc=mobile-sync`),
  UNSUPPORTED_SERVICE: linkOf(GOOD, `v=1&svc=${MARK}`),
  PAYLOAD_DECODE_FAILED: linkOf(`{"pwd":${MARK}`),
  MISSING_FIELD: linkOf({ ...GOOD, pwd: { [MARK]: MARK } }),
  INVALID_URL: linkOf({ ...GOOD, url: `ftp://${MARK}` }),
}

/** Runs to a failure. @returns What it complained about. */
async function fail(enclosure: Enclosure, args: readonly string[], options: RunOptions = {}) {
  const { code, stderr, stdout } = await enclosure.run(args, options)
  assert.ok(code === 1 || code === 2, `${args.join(' ')}: ${code} ${stdout}`)
  assert.match(stderr, /^(?:[^\n]+\n)+$/, args.join(' '))
  return stderr
}

interface Scene {
  readonly enclosure: Enclosure
  readonly fail: (args: readonly string[], options?: RunOptions) => Promise<string>
}

describe('a command that fails', () => {
  /** Tests in an enclosure, in which nothing may be found in the end. */
  function itIsSilent(what: string, play: (scene: Scene, t: TestContext) => Promise<void>): void {
    it(`repeats ${what}`, async (t) => {
      const places = [{ path: /^config\/clipgate\/server\.json$/, holds: ['damaged file'] }]
      const enclosure = await Enclosure.open(t, { main, places })
      await play({ enclosure, fail: (args, options) => fail(enclosure, args, options) }, t)
      await enclosure.assertTight()
    })
  }

  itIsSilent(
    'nothing of a link that cannot be used, wherever it comes from',
    async ({ enclosure, fail }) => {
      for (const [code, link] of Object.entries(BROKEN_LINKS)) {
        const file = join(enclosure.given, code)
        await writeFile(file, link)
        for (const command of ['pull', 'push', 'watch']) {
          assert.match(await fail([command], { stdin: `${link}\ntext` }), new RegExp(`: ${code}: `))
        }
        assert.match(await fail(['link', 'decode'], { stdin: link }), new RegExp(code))
        assert.match(await fail(['pull', '--link-file', file]), new RegExp(code))
        assert.match(await fail(['doctor', '--link-file', file]), new RegExp(code))
      }
    },
  )

  itIsSilent('nothing of a link whose server cannot be reached, or is none', async ({ fail }) => {
    for (const url of [`http://127.0.0.1:1/${MARK}`, `http://${MARK}:${MARK}@127.0.0.1:1`]) {
      const stdin = `${linkOf({ ...GOOD, url })}\ntext`
      for (const command of ['pull', 'push']) {
        await fail([command], { stdin })
        await fail([command, '--save'], { stdin })
      }
    }
    const withLogin = linkOf({ ...GOOD, url: `http://${MARK}:${MARK}@127.0.0.1:1` })
    await fail(['doctor', '--link-file', '-'], { stdin: withLogin })
    for (const bad of [{ user: `${MARK}:` }, { user: `${MARK}\ud800` }, { pwd: `${MARK}\ud800` }]) {
      const json = JSON.stringify({ ...GOOD, ...bad })
      await fail(['pull'], { stdin: linkOf(json) })
    }
  })

  itIsSilent('nothing of what a server answers', async ({ fail }, t) => {
    const gateway = await serveGateway(t)
    const { username: user } = gateway.device
    const wrong = { url: gateway.url, user, pwd: `${secret('wrong password')}` }
    const told = await fail(['pull'], { stdin: formatConnectLink(wrong) })
    assert.match(told, /does not accept the user name and password/)

    const answers = [
      `{"type":"Text","text":"${MARK}`,
      `{"type":"${MARK}"}`,
      `{"type":"File","hasData":true,"dataName":"../${MARK}"}`,
      `{"type":"File","hasData":"${MARK}"}`,
    ]
    gateway.server.removeAllListeners('request')
    gateway.server.on('request', (_, response) => {
      response.writeHead(200, { 'Content-Type': MARK, ETag: MARK }).end(answers.at(-1))
    })
    for (; answers.length > 0; answers.pop()) {
      const stdin = formatConnectLink({ url: gateway.url, user, pwd: gateway.password })
      assert.match(await fail(['pull'], { stdin }), /cannot be understood/)
    }
  })

  itIsSilent('nothing of a secret in the wrong place', async ({ fail }) => {
    const link = linkOf(GOOD)
    // What is typed into a shell is in its history, and in the list of processes: not our doing.
    const shows: Shown = { argv: ['link part'] }
    for (const args of [
      [link],
      ['link', link],
      ['link', 'decode', link],
      ['pull', link],
      ['pull', '--link-file', link],
      ['pull', `--link-file=${link}`],
      ['pull', '--dir', link],
      ['push', link],
      ['watch', '--save', link],
      ['pair', secret('link part')],
      ['pair', '--password', secret('link part')],
      ['pair', `--password-stdin=${secret('link part')}`],
      ['pair', '--url', `http://${MARK}:${MARK}@127.0.0.1`],
      ['pair', '--url', link],
      ['pair', '--public-url', `http://${MARK}@127.0.0.1`],
      ['pair', '--label', secret('link part').repeat(9)],
      ['rotate', link],
      ['revoke', link],
      [`--${MARK}`],
      ['serve', `--${MARK}`],
      ['serve', `-x${MARK}`],
      ['help', MARK],
    ]) {
      await fail(args, { shows, stdin: `${linkOf({ ...GOOD, url: 'http://127.0.0.1:1' })}\n` })
    }
  })

  itIsSilent('nothing of a password that it refuses', async ({ fail }) => {
    const short = secret('password').slice(0, 7)
    for (const stdin of [short, `${secret('password')}\0`, secret('password').repeat(99)]) {
      await fail(['pair', '--password-stdin'], { stdin })
    }
  })

  itIsSilent('nothing of what nobody reads', async ({ enclosure }) => {
    const pairing = await enclosure.start(['pair', '--password-stdin'], {
      stdin: secret('password'),
      shows: { stdout: ['password'] },
    })
    pairing.child.stdout?.destroy()
    const { code, stderr } = await enclosure.end(pairing)
    assert.equal(code, 1)
    assert.match(stderr, /EPIPE; it was removed again\n$/)
    assert.equal((await enclosure.run(['devices', '--json'])).stdout, '[]\n')
  })

  itIsSilent('names of settings, and no values that nobody knows', async ({ enclosure, fail }) => {
    const config = join(enclosure.given, 'config.json')
    const args = ['serve', '--config', config]
    const value = secret('setting value')
    for (const content of [
      JSON.stringify({ password: value }),
      JSON.stringify({ publicUrl: `http://${secretWord('setting value')}@127.0.0.1` }),
      JSON.stringify({ dataDir: { [value]: value } }),
      `{"dataDir":"${value}`,
      `${secretWord('setting value')}`,
      JSON.stringify([value]),
    ]) {
      await writeFile(config, content)
      await fail(args)
    }
    const env = { CLIPGATE_PASSWORD: '' }
    await fail(['serve', '--data-dir', ''], { env })
    await enclosure.assertTight()

    // A setting is no secret, and a person has to find it.
    await writeFile(config, JSON.stringify({ [secretWord('setting name')]: value }))
    await fail(args, { shows: { stderr: ['setting name'] } })
    await writeFile(config, JSON.stringify({ logLevel: secretWord('setting value') }))
    await fail(args, { shows: { stderr: ['setting value'] } })
  })

  itIsSilent('nothing of a saved server that is damaged', async ({ enclosure, fail }) => {
    const folder = join(enclosure.folder, 'config', 'clipgate')
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await mkdir(join(enclosure.folder, 'config'), { recursive: true, mode: 0o700 })
    const damaged = secretWord('damaged file')
    for (const content of [
      `{"url":"http://127.0.0.1:1","user":"${damaged}","pwd":${damaged}`,
      `{"url":"http://127.0.0.1:1","user":"${damaged}","pwd":["${damaged}"]}`,
      `{"url":"${damaged}","user":"${damaged}","pwd":"${damaged}"}`,
      `{"url":"http://a:${damaged}@b","user":"${damaged}","pwd":"${damaged}"}`,
      damaged,
    ]) {
      await writeFile(join(folder, 'server.json'), content, { mode: 0o600 })
      await fail(['pull'])
    }
  })
})
