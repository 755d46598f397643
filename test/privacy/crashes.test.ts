import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { main } from '../faults/support/subject.ts'
import type { PairedDevice } from '../support/daemon-process.ts'
import { createPhone } from '../support/phone.ts'
import { Enclosure } from './support/enclosure.ts'
import { PLACES } from './support/scenario.ts'
import { secret, secretWord } from './support/secrets.ts'

/** Bugs that a signal sets off, as if they were in the program: what they throw quotes a secret. */
const BUGS = `
import { readFileSync } from 'node:fs'
const read = () => readFileSync(new URL('./secret.txt', import.meta.url), 'utf8')
const bugs = [
  () => JSON.parse(read()),
  () => { throw read() },
  () => { throw new TypeError('Cannot use ' + read()) },
  () => { throw Object.assign(new Error('Cannot use ' + read()), { code: 'ERR_INVALID_ARG' }) },
  () => { throw new Error('Cannot do it', { cause: read() }) },
  () => void Promise.reject(read()),
  () => void Promise.reject({ secret: read() }),
  () => void Promise.reject(new AggregateError([read()], read())),
]
process.on('SIGURG', () => setImmediate(bugs.shift()))
`

const BUG_COUNT = 8

describe('a daemon that crashes', () => {
  /** A daemon whose memory is full of secrets. */
  async function open(t: TestContext, nodeOptions: (given: string) => readonly string[]) {
    const enclosure = await Enclosure.open(t, { main, places: PLACES })
    await writeFile(join(enclosure.given, 'bugs.mjs'), BUGS)
    await writeFile(join(enclosure.given, 'secret.txt'), secretWord('copied secret'))
    const names = ['--username', secretWord('user name'), '--label', secret('label')]
    const shown = ['password', 'user name', 'label']
    const { stdout } = await enclosure.run(['pair', '--json', '--password-stdin', ...names], {
      stdin: secret('password'),
      shows: { argv: ['user name', 'label'], stdout: shown },
    })
    const device: PairedDevice = JSON.parse(stdout)
    const env = { NODE_OPTIONS: nodeOptions(enclosure.given).join(' ') }
    const { daemon, ready } = await enclosure.serve(['--headless'], env)
    const phone = createPhone(device, ready.gateway)
    await phone.pushText(secret('text'))
    await phone.pushFile('File', secret('file name'), Buffer.from(secret('file content')))
    const stranger = createPhone({ ...device, password: secret('wrong password') }, ready.gateway)
    await stranger.fetch('/')
    return { enclosure, daemon, phone }
  }

  it('tells of each bug by an id, goes on, and quotes nothing', async (t) => {
    const { enclosure, daemon, phone } = await open(t, (given) => [`--import=${given}/bugs.mjs`])
    for (let count = 1; count <= BUG_COUNT; count++) {
      daemon.child.kill('SIGURG')
      const lines = `(?:error [^\\n]* id="[0-9a-f]{12}" [^\\n]*\\n[^]*?){${count}}`
      await daemon.printed(new RegExp(lines), 'stderr')
      assert.equal((await phone.fetch('/')).status, 200)
    }
    const { stderr } = await enclosure.stop(daemon)
    assert.equal(stderr.match(/^\S+ error /gm)?.length, BUG_COUNT, stderr)
    await enclosure.assertTight()
  })

  it('leaves no secret in a report of Node', async (t) => {
    const { enclosure, daemon } = await open(t, (given) => [
      '--report-on-signal',
      '--report-on-fatalerror',
      '--report-uncaught-exception',
      `--report-directory=${given}`,
    ])
    daemon.child.kill('SIGUSR2')
    await daemon.printed(/report completed/, 'stderr')
    const reports = (await readdir(enclosure.given)).filter((name) => name.startsWith('report'))
    assert.equal(reports.length, 1)
    for (const name of reports) {
      const report = await readFile(join(enclosure.given, name))
      assert.ok(JSON.parse(String(report)).header.event.length > 0, name)
      enclosure.judge(name, report)
    }
    daemon.child.kill('SIGABRT')
    await enclosure.end(daemon)
    assert.equal(daemon.child.signalCode, 'SIGABRT')
    await enclosure.assertTight()
  })
})
