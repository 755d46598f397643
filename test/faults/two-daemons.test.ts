import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, it } from 'node:test'
import {
  daemonCommand, startDaemonProcess, temporaryFolder, type DaemonOptions,
} from '../support/daemon-process.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { buildProgram, type BuiltProgram } from './support/built-program.ts'
import { assertFit, examine } from './support/fitness.ts'
import { failToStart } from './support/start-failure.ts'

let program: BuiltProgram
let options: DaemonOptions

before(async () => {
  program = await buildProgram()
  options = { main: program.main, args: ['--headless'] }
})

after(() => program.remove())

/** What a second one says. */
function runsAlready(folder: string, pid: number | undefined): RegExp {
  const holder = `\\(process ${pid}, since \\S+\\)`
  const problem = `clipgate already runs on this folder ${holder}; stop it first`
  return new RegExp(`^Cannot lock ${folder}/data/lock: ${problem}\n$`)
}

describe('two daemons on one data directory', () => {
  it('are one: the second is told who was first, also when that one is stopped', async (t) => {
    const first = await startDaemonProcess(t, options)
    const { folder, ready } = first
    const device = await first.pair('Phone')
    await createPhone(device, ready.gateway).pushFile('File', 'a', Buffer.from('mine'))
    const patient = { daemon: first, device }
    const before = await examine(patient)
    for (const signal of ['SIGSTOP', 'SIGCONT'] as const) {
      first.child.kill(signal)
      const { code, stderr } = await failToStart(t, folder, options)
      assert.match(stderr, runsAlready(folder, ready.pid))
      assert.equal(code, 1)
    }
    await assertFit(patient, before)
  })

  it('that start at the same time are one', async (t) => {
    for (let round = 0; round < 3; round++) {
      const folder = await temporaryFolder(t)
      const starters = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const child = daemonCommand(folder, options).spawn()
          t.after(() => child.kill('SIGKILL'))
          assert.ok(child.stdout !== null && child.stderr !== null, 'it has streams')
          let stderr = ''
          child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
          const line = once(createInterface(child.stdout), 'line')
          const exit = once(child, 'close')
          await Promise.race([line, exit])
          return { child, exit, said: () => stderr }
        }),
      )
      const [runs, ...others] = starters.filter(({ child }) => child.exitCode === null)
      assert.deepEqual(others, [], `${starters.map(({ said }) => said()).join('')}`)
      for (const { child, said } of starters.filter((starter) => starter !== runs)) {
        assert.match(said(), runsAlready(folder, runs?.child.pid))
        assert.equal(child.exitCode, 1)
      }
      runs?.child.kill('SIGTERM')
      assert.deepEqual(await runs?.exit, [0, null])
    }
  })
})

const isRoot = process.geteuid?.() === 0
const rootOnly = isRoot ? needs('unshare', 'mount') : { skip: 'skipped: needs root' }

describe('a lock that was left behind', rootOnly, () => {
  it('is recognised when the process id was used again, as in each container', async (t) => {
    const folder = await temporaryFolder(t)
    // Each is process 1 of a world of its own.
    const wrapper = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']
    for (const round of [1, 2, 3]) {
      const daemon = await startDaemonProcess(t, { ...options, folder, wrapper })
      assert.equal(daemon.ready.pid, 1)
      assert.equal(JSON.parse(await readFile(join(folder, 'data', 'lock'), 'utf8')).pid, 1)
      assert.equal((await fetch(`${daemon.ready.gateway}/healthz`)).status, 204, `${round}`)
      daemon.child.kill('SIGKILL')
      await once(daemon.child, 'close')
    }
  })

  it('is recognised after a reboot, whoever has its process id now', async (t) => {
    const folder = await temporaryFolder(t)
    const first = await startDaemonProcess(t, { ...options, folder })
    first.child.kill('SIGKILL')
    await once(first.child, 'close')
    // As if this very process had left it.
    const path = join(folder, 'data', 'lock')
    const stat = await readFile('/proc/self/stat', 'utf8')
    const processStart = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    const lock = JSON.parse(await readFile(path, 'utf8'))
    await writeFile(path, JSON.stringify({ ...lock, pid: process.pid, processStart }))
    assert.match((await failToStart(t, folder, options)).stderr, runsAlready(folder, process.pid))

    const bootTime = lock.bootTime - 3600
    await writeFile(path, JSON.stringify({ ...lock, pid: process.pid, processStart, bootTime }))
    const bootId = join(folder, 'boot_id')
    await writeFile(bootId, '01234567-89ab-cdef-0123-456789abcdef\n')
    const script = `mount --bind ${bootId} /proc/sys/kernel/random/boot_id && exec "$@"`
    const wrapper = ['unshare', '--mount', 'sh', '-c', script, 'sh']
    const after = await startDaemonProcess(t, { ...options, folder, wrapper })
    assert.equal((await fetch(`${after.ready.gateway}/healthz`)).status, 204)
    // One whose container shows it another id of the same boot is seen by those outside.
    assert.match((await failToStart(t, folder, options)).stderr, runsAlready(folder, after.ready.pid))
    assert.equal(await after.stop(), 0)
  })
})
