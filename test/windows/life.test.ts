import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { buildProgram } from '../faults/support/built-program.ts'
import { openEvents } from '../support/event-reader.ts'
import { HubClient } from '../support/hub-client.ts'
import { isNight } from '../support/night.ts'
import { createPhone, type Phone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { untilIn } from '../support/until-in.ts'
import { needsWine, WindowsMachine, type WindowsProgram } from './support/wine.ts'
import { sha256Of } from '../support/hashes.ts'

const MIB = 1024 * 1024

const program = await buildProgram()

const SERVE = [
  'serve',
  '--json',
  '--headless',
  '--listen',
  '127.0.0.1:0',
  '--control',
  '127.0.0.1:0',
]

// By day the other version has `daemon.test.ts`.
for (const [version, largeMib] of isNight
  ? ([
      ['20', 64],
      ['22', 1024],
    ] as const)
  : ([['22', 16]] as const)) {
  describe(`the life of a daemon under node.exe ${version}`, needsWine(), () => {
    let machine: WindowsMachine
    let main = ''
    before(async () => {
      machine = await WindowsMachine.start(version)
      main = machine.toWindows(program.main)
    })
    after(() => machine.stop())

    /** A daemon with a data directory of its own, and the commands beside it. */
    async function start(t: TestContext, name: string) {
      const data = ['--data-dir', `C:\\${name}`]
      const serve = (): WindowsProgram => machine.node(main, ...SERVE, ...data)
      let daemon = serve()
      for (let again = 2; again > 0 && (await endsSilently(daemon)); again--) daemon = serve()
      t.after(() => daemon.child.kill('SIGKILL'))
      const gateway: string = JSON.parse(await daemon.line()).gateway
      const run = async (...args: readonly string[]) => {
        const command = machine.node(main, ...args, ...data)
        assert.equal(await command.ended(), 0, await command.stderr())
        return command.stdout()
      }
      const read = async (...args: readonly string[]) => JSON.parse(await run(...args, '--json'))
      return { ...daemon, gateway, port: Number(new URL(gateway).port), run, read }
    }

    it('tells of each push by the event stream and by the hub, and lets nobody else in', async (t) => {
      const daemon = await start(t, 'told')
      const paired = await daemon.read('pair', '--label', 'Pixel')
      const phone = createPhone(paired, daemon.gateway)
      const events = await openEvents(t, daemon.gateway, phone.authorization)
      await events.next()
      const hub = await HubClient.open(t, { port: daemon.port, authorization: phone.authorization })
      await phone.pushText('told')
      assert.ok((await events.next()) !== undefined)
      assert.ok((await hub.hear()).length > 0)

      const rotated = createPhone(await daemon.read('rotate', 'Pixel'), daemon.gateway)
      assert.equal((await phone.fetch('/Sync.json')).status, 401)
      assert.equal((await rotated.document())['text'], 'told')
      assert.equal(await events.next(), undefined)
      await daemon.run('revoke', 'Pixel')
      assert.equal((await rotated.fetch('/Sync.json')).status, 401)
    })

    it('serves the page of phones and the panel, and its commands push and pull', async (t) => {
      const daemon = await start(t, 'pages')
      for (const [path, text] of [
        ['/phone', '<title>clipgate</title>'],
        ['/phone/phone.css', ':root'],
      ] as const) {
        const response = await fetch(daemon.gateway + path)
        assert.ok((await response.text()).includes(text), path)
      }
      const panel = (await daemon.run('panel', '--print')).trim()
      assert.ok((await (await fetch(panel)).text()).includes('<title>'), panel)

      await writeFile(join(machine.drive, 'test', 'ü.txt'), 'pushed from a file')
      await daemon.run('push', 'C:\\test\\ü.txt')
      await daemon.run('pull', '--output', 'C:\\test\\back.txt')
      const back = await readFile(join(machine.drive, 'test', 'back.txt'), 'utf8')
      assert.equal(back, 'pushed from a file')
      assert.equal((await daemon.read('status')).running, true)
      const doctor = machine.node(main, 'doctor', '--json', '--data-dir', 'C:\\pages')
      // It finds fault with a daemon that only this machine can reach.
      assert.ok([0, 1].includes((await doctor.ended()) ?? -1), await doctor.stderr())
      assert.ok(JSON.parse(await doctor.stdout()))
    })

    it('is a member beside another one', async (t) => {
      const [node, member] = [await start(t, 'node'), await start(t, 'member')]
      const { link } = await node.read('pair', '--kind', 'peer')
      await writeFile(join(machine.drive, 'test', 'link.txt'), link)
      await member.run('join', '--link-file', 'C:\\test\\link.txt', '--name', 'node')
      const [here, there] = await Promise.all(
        [node, member].map(async (one) => createPhone(await one.read('pair'), one.gateway)),
      )
      await there?.pushText('from the member')
      await here?.reads({ text: 'from the member' })
      await here?.pushFile('File', 'b.bin', Buffer.from('bytes'))
      await there?.reads({ dataName: 'b.bin' })
      assert.equal((await there?.download())?.toString(), 'bytes')
    })

    it(`brings ${largeMib} MiB in and out again`, async (t) => {
      const daemon = await start(t, 'large')
      const phone = createPhone(await daemon.read('pair'), daemon.gateway)
      const hash = await upload(phone, largeMib)
      assert.equal(await download(phone), hash)
    })

    it('ends by Ctrl-C in a console', needs('script'), async (t) => {
      const data = join(machine.drive, 'console')
      await mkdir(data)
      const console = machine.onTerminal(main, ...SERVE, '--data-dir', 'C:\\console')
      t.after(() => console.kill('SIGKILL'))
      const lock = () => readFile(join(data, 'lock'), 'utf8').catch(() => '')
      await untilIn(data, async () => (await lock()).includes('"control"'))
      console.stdin.write('\x03')
      // One that was killed leaves its lock.
      await untilIn(data, async () => (await lock()) === '')
    })
  })
}

/** Whether it ended without a word: Wine does that to a program once in a while. */
async function endsSilently(program: WindowsProgram): Promise<boolean> {
  try {
    await program.line()
    return false
  } catch (error) {
    if ((await program.stderr()) !== '') throw error
    return true
  }
}

/** @returns The hash of what was sent. */
async function upload(phone: Phone, mib: number): Promise<string> {
  const hash = createHash('sha256')
  const block = randomBytes(MIB)
  async function* blocks(): AsyncGenerator<Uint8Array> {
    for (let number = 0; number < mib; number += 1) {
      block.writeUInt32LE(number)
      hash.update(block)
      yield Buffer.from(block)
    }
  }
  const init = { method: 'PUT', body: ReadableStream.from(blocks()), duplex: 'half' } as const
  assert.equal((await phone.fetch('/file/large.bin', init)).status, 200)
  const body = JSON.stringify({ type: 'File', dataName: 'large.bin', hasData: true })
  assert.equal((await phone.fetch('/Sync.json', { method: 'PUT', body })).status, 200)
  return hash.digest('hex')
}

async function download(phone: Phone): Promise<string> {
  return sha256Of((await phone.fetch('/file/large.bin')).body ?? [])
}
