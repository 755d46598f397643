import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'
import { daemonCommand, type DaemonProcess } from '../support/daemon-process.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { assertFit, examine } from './support/fitness.ts'
import { failToStart, headless, startHeadless } from './support/subject.ts'

/** What a second one says. */
function runsAlready(folder: string, pid: number | undefined): RegExp {
  const holder = `\\(process ${pid}, since \\S+\\)`
  const problem = `clipgate already runs on this folder ${holder}; stop it first`
  return new RegExp(`^Cannot lock ${folder}/data/lock: ${problem}\n$`)
}

it('two daemons on one data directory are one: the second is told who was first, also when that one is stopped', async (t) => {
  const first = await startHeadless(t, { devices: ['Phone'] })
  const { folder, ready } = first
  const device = await first.pair('Phone')
  await createPhone(device, ready.gateway).pushFile('File', 'a', Buffer.from('mine'))
  const patient = { daemon: first, device }
  const before = await examine(patient)
  for (const signal of ['SIGSTOP', 'SIGCONT'] as const) {
    first.child.kill(signal)
    const { code, stderr } = await failToStart(t, folder)
    assert.match(stderr, runsAlready(folder, ready.pid))
    assert.equal(code, 1)
  }
  await assertFit(patient, before)
})

it('two daemons on one data directory that start at the same time are one', async (t) => {
  for (let round = 0; round < 3; round++) {
    const folder = await temporaryFolder(t)
    const starters = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const child = daemonCommand(folder, headless()).spawn()
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

/** The files that may have the id of a machine, and are there. */
const ID_FILES = ['/etc/machine-id', '/var/lib/dbus/machine-id'].filter((path) => existsSync(path))

/** Says which machine holds the folder, and what to do should it be gone. */
function runsElsewhere(folder: string, host: string, pid: number | undefined): RegExp {
  const path = `${folder}/data/lock`
  const problem = `clipgate runs on this folder on another machine \\(process ${pid} on "${host}", since \\S+\\)`
  const remedy = `stop it there; if "${host}" is gone for good, remove ${path}`
  return new RegExp(`Cannot lock ${path}: ${problem}; ${remedy}\n$`)
}

/**
 * The beginning of a command that runs others on a machine of their own, as far as the lock can see:
 * with a name, an id, a boot and, if asked for, processes that nobody else has.
 */
async function machineOf(
  folder: string,
  host: string,
  { hasOwnProcesses }: { readonly hasOwnProcesses: boolean },
): Promise<readonly string[]> {
  const [id, bootId] = [join(folder, `${host}.id`), join(folder, `${host}.boot`)]
  await writeFile(id, `${randomBytes(16).toString('hex')}\n`)
  await writeFile(bootId, `${randomUUID()}\n`)
  const script = [
    `hostname ${host}`,
    ...ID_FILES.map((path) => `mount --bind ${id} ${path}`),
    `mount --bind ${bootId} /proc/sys/kernel/random/boot_id`,
    'exec "$@"',
  ].join(' && ')
  const processes = hasOwnProcesses ? ['--pid', '--fork', '--kill-child', '--mount-proc'] : []
  return ['unshare', '--mount', '--uts', ...processes, 'sh', '-c', script, 'sh']
}

const isRoot = process.geteuid?.() === 0
const rootOnly = isRoot ? needs('unshare', 'mount') : { skip: 'skipped: needs root' }
const forMachines = isRoot ? needs('unshare', 'mount', 'hostname') : rootOnly
const machines =
  ID_FILES.length > 0 ? forMachines : { skip: 'skipped: needs a file for the id of the machine' }

describe('two machines on one data directory', machines, () => {
  it('are one: the second is told which one was first, and undoes no revocation', async (t) => {
    const folder = await temporaryFolder(t)
    const near = await machineOf(folder, 'near', { hasOwnProcesses: false })
    const far = await machineOf(folder, 'far', { hasOwnProcesses: true })
    const first = await startHeadless(t, { folder, wrapper: near })
    const [lost, kept] = [await first.pair('Lost'), await first.pair('Kept')]

    const onFar = { wrapper: far }
    const refusal = runsElsewhere(folder, 'near', first.ready.pid)
    const { code, stderr } = await failToStart(t, folder, onFar)
    assert.match(stderr, refusal)
    assert.equal(code, 1)
    for (const command of [['devices'], ['revoke', kept.id], ['status']]) {
      await assert.rejects(daemonCommand(folder, headless(onFar)).run(...command), ({ stderr }) => {
        assert.match(stderr, refusal)
        return true
      })
    }
    await first.run('revoke', lost.id)
    const labels = async (daemon: DaemonProcess): Promise<readonly string[]> => {
      const devices = JSON.parse((await daemon.run('devices', '--json')).stdout)
      return devices.map(({ label }: { readonly label: string }) => label)
    }
    assert.deepEqual(await labels(first), ['Kept'])
    assert.equal(await first.stop(), 0)

    // What was given back may be taken anywhere.
    const second = await startHeadless(t, { ...onFar, folder })
    const statuses = [lost, kept].map(async (device) => {
      return (await createPhone(device, second.ready.gateway).fetch('/')).status
    })
    assert.deepEqual(await Promise.all(statuses), [401, 200])

    // A machine that died cannot be told from one that cannot be seen.
    await second.kill()
    const onNear = { wrapper: near }
    assert.match((await failToStart(t, folder, onNear)).stderr, runsElsewhere(folder, 'far', 1))
    await unlink(join(folder, 'data', 'lock'))
    const third = await startHeadless(t, { ...onNear, folder })
    assert.deepEqual(await labels(third), ['Kept'])
    assert.equal(await third.stop(), 0)
  })

  it('are told apart by a keyed hash: the id of a machine is private', async (t) => {
    const folder = await temporaryFolder(t)
    const wrapper = await machineOf(folder, 'near', { hasOwnProcesses: false })
    const daemon = await startHeadless(t, { folder, wrapper })
    const lock = await readFile(join(folder, 'data', 'lock'), 'utf8')
    const id = (await readFile(join(folder, 'near.id'), 'utf8')).trim()
    assert.match(JSON.parse(lock).machine, /^(?:id|host):[0-9a-f]{32}$/)
    assert.equal(lock.includes(id), false)
    assert.equal(await daemon.stop(), 0)
  })
})

describe('a lock of a machine that has an id', machines, () => {
  it('is left alone by one that has none', async (t) => {
    const folder = await temporaryFolder(t)
    const near = await machineOf(folder, 'near', { hasOwnProcesses: false })
    const bare = await machineOf(folder, 'bare', { hasOwnProcesses: true })
    await writeFile(join(folder, 'bare.id'), '')
    const first = await startHeadless(t, { folder, wrapper: near })
    const refusal = runsElsewhere(folder, 'near', first.ready.pid)
    assert.match((await failToStart(t, folder, { wrapper: bare })).stderr, refusal)
    assert.equal(await first.stop(), 0)
    await (await startHeadless(t, { folder, wrapper: bare })).kill()
  })
})

describe('a lock that was left behind', rootOnly, () => {
  it('is recognised when the process id was used again, as in each container', async (t) => {
    const folder = await temporaryFolder(t)
    // Each is process 1 of a world of its own.
    const wrapper = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']
    for (const round of [1, 2, 3]) {
      const daemon = await startHeadless(t, { folder, wrapper })
      assert.equal(daemon.ready.pid, 1)
      assert.equal(JSON.parse(await readFile(join(folder, 'data', 'lock'), 'utf8')).pid, 1)
      assert.equal((await fetch(`${daemon.ready.gateway}/healthz`)).status, 204, `${round}`)
      await daemon.kill()
    }
  })

  it('is recognised after a reboot, whoever has its process id now', async (t) => {
    const folder = await temporaryFolder(t)
    const first = await startHeadless(t, { folder })
    await first.kill()
    // As if this very process had left it.
    const path = join(folder, 'data', 'lock')
    const stat = await readFile('/proc/self/stat', 'utf8')
    const processStart = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    const lock = JSON.parse(await readFile(path, 'utf8'))
    await writeFile(path, JSON.stringify({ ...lock, pid: process.pid, processStart }))
    assert.match((await failToStart(t, folder)).stderr, runsAlready(folder, process.pid))

    const bootTime = lock.bootTime - 3600
    await writeFile(path, JSON.stringify({ ...lock, pid: process.pid, processStart, bootTime }))
    const bootId = join(folder, 'boot_id')
    await writeFile(bootId, '01234567-89ab-cdef-0123-456789abcdef\n')
    const script = `mount --bind ${bootId} /proc/sys/kernel/random/boot_id && exec "$@"`
    const wrapper = ['unshare', '--mount', 'sh', '-c', script, 'sh']
    const after = await startHeadless(t, { folder, wrapper })
    assert.equal((await fetch(`${after.ready.gateway}/healthz`)).status, 204)
    // One whose container shows it another id of the same boot is seen by those outside.
    assert.match((await failToStart(t, folder)).stderr, runsAlready(folder, after.ready.pid))
    assert.equal(await after.stop(), 0)
  })
})
