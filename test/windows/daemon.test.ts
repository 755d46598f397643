import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { buildProgram } from '../faults/support/built-program.ts'
import { withoutUsual } from '../support/daemon-process.ts'
import { isNight } from '../support/night.ts'
import { createPhone } from '../support/phone.ts'
import { untilIn } from '../support/until-in.ts'
import { needsWine, VERSIONS, WindowsMachine } from './support/wine.ts'
import { sha256 } from '../support/hashes.ts'

const HOLD = fileURLToPath(new URL('./support/hold.cjs', import.meta.url))

const program = await buildProgram()

const PORTS = ['--listen', '127.0.0.1:0', '--control', '127.0.0.1:0']

// By day the other version has `life.test.ts`.
for (const version of isNight ? VERSIONS : (['20'] as const)) {
  describe(`the daemon under node.exe ${version}`, needsWine(), () => {
    let machine: WindowsMachine
    let main = ''
    let count = 0

    before(async () => {
      machine = await WindowsMachine.start(version)
      main = machine.toWindows(program.main)
    })
    after(() => machine.stop())

    /** A data directory that is not there yet. */
    function makeNode() {
      count += 1
      const name = `data ü ${count}`
      const data = ['--data-dir', `C:\\${name}`]
      const command = async (...args: readonly string[]) => {
        const program = machine.node(main, ...args, ...data)
        const code = await program.ended()
        return { code, stdout: await program.stdout(), stderr: await program.stderr() }
      }
      const start = async (t: TestContext) => {
        const program = machine.node(main, 'serve', '--json', '--headless', ...PORTS, ...data)
        t.after(() => program.child.kill('SIGKILL'))
        const ready = JSON.parse(await program.line())
        return { ...program, ready }
      }
      const pair = async (gateway: string) =>
        createPhone(JSON.parse((await command('pair', '--json')).stdout), gateway)
      return { name, folder: join(machine.drive, name), command, start, pair }
    }

    it('pairs, keeps what is pushed, serves it, and stops when it is told to', async (t) => {
      const node = makeNode()
      const daemon = await node.start(t)
      const phone = await node.pair(daemon.ready.gateway)
      await phone.pushText('grüß 👋')
      assert.equal((await phone.document())['text'], 'grüß 👋')
      const bytes = randomBytes(8_000_000)
      await phone.pushFile('File', 'Ä b.bin', bytes)
      assert.equal(sha256(await phone.download()), sha256(bytes))
      const range = await phone.fetch('/file/%C3%84%20b.bin', { headers: { Range: 'bytes=10-19' } })
      assert.equal(range.status, 206)
      assert.deepEqual(Buffer.from(await range.arrayBuffer()), bytes.subarray(10, 20))

      const again = await node.command('serve', '--headless', ...PORTS)
      assert.equal(again.code, 1)
      assert.match(
        again.stderr,
        new RegExp(`already runs on this folder \\(process ${daemon.ready.pid},`),
      )
      const stopped = await node.command('stop', '--json')
      assert.deepEqual([stopped.code, stopped.stdout], [0, `{"pid":${daemon.ready.pid}}\n`])
      assert.equal(await daemon.ended(), 0)
      assert.equal(withoutUsual(await daemon.stderr()), '')
      assert.ok(!(await readdir(node.folder)).includes('lock'))
    })

    it('takes over from one that was killed, whoever has its process id now', async (t) => {
      const node = makeNode()
      const first = await node.start(t)
      const pushed = await node.pair(first.ready.gateway)
      await pushed.pushText('kept')
      first.child.kill('SIGKILL')
      await first.ended()
      const { program, release } = await hold(t, join(machine.drive, 'other'))
      const path = join(node.folder, 'lock')
      const lock = JSON.parse(await readFile(path, 'utf8'))
      await writeFile(path, JSON.stringify({ ...lock, pid: Number(await program.line()) }))
      assert.match((await node.command('status')).stdout, /not running/)
      const second = await node.start(t)
      const phone = await node.pair(second.ready.gateway)
      assert.equal((await phone.document())['text'], 'kept')
      await release()
    })

    it('waits for a program that has its file open, and says so when that takes too long', async (t) => {
      const node = makeNode()
      const daemon = await node.start(t)
      const phone = await node.pair(daemon.ready.gateway)
      await phone.pushText('before')
      const item = join(node.folder, 'item.json')
      const short = await hold(t, item)
      const pushing = phone.pushText('pushed')
      await untilIn(node.folder, async () => (await temporaries(node.folder)).length > 0)
      await short.release()
      await pushing
      assert.equal((await phone.document())['text'], 'pushed')

      const long = await hold(t, item)
      const body = JSON.stringify({ type: 'Text', text: 'refused' })
      const answer = await phone.fetch('/Sync.json', { method: 'PUT', body })
      assert.equal(answer.status, 500)
      await long.release()
      assert.equal((await phone.document())['text'], 'pushed')
      assert.match(await daemon.stderr(), /another program has it open/)
      assert.deepEqual(await temporaries(node.folder), [])
    })

    /** Another program has a file open, alone, until it is released. */
    async function hold(t: TestContext, path: string) {
      const until = `${path}.held`
      await writeFile(path, '', { flag: 'a' })
      await writeFile(until, '')
      const paths = [HOLD, path, until].map((one) => machine.toWindows(one))
      const program = machine.node(...paths)
      t.after(() => program.child.kill('SIGKILL'))
      await program.line()
      return {
        program,
        release: async () => {
          await unlink(until)
          await program.ended()
        },
      }
    }
  })
}

async function temporaries(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.tmp'))
}
