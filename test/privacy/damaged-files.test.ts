import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { main } from '../faults/support/subject.ts'
import type { PairedDevice } from '../support/daemon-process.ts'
import { createPhone } from '../support/phone.ts'
import { Enclosure } from './support/enclosure.ts'
import { secret, secretWord } from './support/secrets.ts'

const DAMAGED = secretWord('damaged file')
const SERVE = ['serve', '--json', '--headless', '--log-level', 'debug']

/** Ways in which a JSON file goes wrong, with something of it at every place. */
const DAMAGES: readonly ((text: string) => string)[] = [
  (text) => text.slice(0, text.lastIndexOf(DAMAGED) + 12),
  (text) => text.replaceAll(DAMAGED, `${DAMAGED}"${DAMAGED}`),
  (text) => text.replace(/("\w+":)(?:"[^"]*"|\d+)(,|\})/g, `$1["${DAMAGED}"]$2`),
  (text) => text.replace(/"version":\d+/, `"version":"${DAMAGED}"`),
  (text) => text.replace(/"version":\d+/, '"version":99'),
  () => DAMAGED,
  () => `["${DAMAGED}"]`,
  () => `{"${DAMAGED}":"${DAMAGED}"}`,
  (text) => `${text}${DAMAGED}`,
  () => `\xff${DAMAGED}`,
]

describe('a damaged file of the data directory', () => {
  /** A data directory with everything in it, each thing called after the damage to come. */
  async function open(t: TestContext) {
    const marks = ['damaged file', 'label']
    const places = [{ path: /^data\/.*/, holds: marks }]
    const enclosure = await Enclosure.open(t, { main, places })
    const shown = { argv: marks, stdout: marks }
    const names = ['--username', DAMAGED, '--label', secret('label')]
    const { stdout } = await enclosure.run(['pair', '--json', ...names], { shows: shown })
    const device: PairedDevice = JSON.parse(stdout)
    const { daemon, ready } = await enclosure.serve()
    const phone = createPhone(device, ready.gateway)
    await phone.pushFile('File', DAMAGED, Buffer.from('bytes'))
    await phone.pushText(secret('damaged file'))
    await phone.fetch(`/file/${DAMAGED}`, { method: 'PUT', body: 'waits' })
    await enclosure.stop(daemon)
    return enclosure
  }

  /** Starts the daemon, and stops it if it did. @returns Whether it did. */
  async function tryStart(enclosure: Enclosure): Promise<boolean> {
    const daemon = await enclosure.start(SERVE)
    const isReady = await daemon.printed(/ready/).then(
      () => true,
      () => false,
    )
    if (isReady) daemon.child.kill('SIGTERM')
    const { stderr } = await enclosure.end(daemon)
    assert.match(stderr, isReady ? /^(?:.* (?:warn|info) .*\n)*$/ : /^Cannot [^\n]+\n$/)
    return isReady
  }

  async function damage(
    enclosure: Enclosure,
    path: string,
    { isFatal }: { readonly isFatal: boolean },
  ): Promise<void> {
    const file = join(enclosure.dataDir, path)
    const whole = await readFile(file, 'utf8')
    assert.ok(whole.includes(DAMAGED), path)
    for (const spoil of DAMAGES) {
      await writeFile(file, Buffer.from(spoil(whole), 'latin1'))
      assert.equal(await tryStart(enclosure), !isFatal, String(spoil))
      await writeFile(file, whole)
    }
    assert.deepEqual(enclosure.leaks, [])
  }

  for (const [what, path] of [
    ['devices', 'devices.json'],
    ['the item', 'item.json'],
  ] as const) {
    it(`is named, and never quoted, if it tells of ${what}`, async (t) => {
      await damage(await open(t), path, { isFatal: true })
    })
  }

  it('is named, and never quoted, if it tells of an upload', async (t) => {
    const enclosure = await open(t)
    const [name = ''] = await readdir(join(enclosure.dataDir, 'staging'))
    await damage(enclosure, join('staging', name), { isFatal: false })
  })

  it('is never quoted if it says who runs, and where', async (t) => {
    const enclosure = await open(t)
    const file = join(enclosure.dataDir, 'lock')
    const lock = { token: 'a'.repeat(32), pid: process.pid, startedAt: DAMAGED, control: DAMAGED }
    const others = [`ftp://${DAMAGED}`, `http://${DAMAGED}:1/`, 'http://127.0.0.1:1/']
    await writeFile(join(enclosure.dataDir, 'control.token'), `${DAMAGED}\n${DAMAGED}`)
    for (const content of [
      DAMAGED,
      JSON.stringify({ ...lock, pid: DAMAGED }),
      JSON.stringify({ ...lock, token: DAMAGED }),
      JSON.stringify({ ...lock, pid: 2 ** 30 }),
    ]) {
      await writeFile(file, content)
      await tryStart(enclosure)
      await enclosure.run(['devices'], { shows: { stdout: ['damaged file', 'label'] } })
    }
    // Who runs, since when and where is no secret; the token is.
    for (const control of others) {
      const token = randomBytes(30).toString('base64')
      enclosure.search.learn('a token', token)
      await writeFile(join(enclosure.dataDir, 'control.token'), token)
      await writeFile(file, JSON.stringify({ ...lock, startedAt: '2026-01-01T00:00:00Z', control }))
      await enclosure.run(['devices'], { shows: { stderr: ['damaged file'] } })
    }
    assert.deepEqual(enclosure.leaks, [])
  })

  it('is never quoted if it has become a folder', async (t) => {
    const enclosure = await open(t)
    await mkdir(join(enclosure.dataDir, 'staging', `${'a'.repeat(32)}.json`))
    await tryStart(enclosure)
    assert.deepEqual(enclosure.leaks, [])
  })
})
