import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { DirectoryLock, readLockHolder } from '../../src/storage/home/lock.ts'
import { identifySelf } from '../../src/storage/home/process-identity.ts'
import { quoted } from '../support/quoted.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const TOKEN = 'ab'.repeat(16)

/** Writes a lock as a program with these differences would have left it. */
async function plantLock(
  folder: string,
  difference: Readonly<Record<string, unknown>>,
  name = 'lock',
): Promise<void> {
  const record = {
    token: TOKEN,
    ...identifySelf(),
    startedAt: '2026-01-31T00:00:00.000Z',
    ...difference,
  }
  await writeFile(join(folder, name), JSON.stringify(record), { mode: 0o600 })
}

/** Its files, without the one that stays where a program can have a file open alone. */
async function locksIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name !== 'lock.held')
}

/** The id of a process that has ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  await once(child, 'exit')
  return child.pid ?? 0
}

async function takeLock(t: TestContext, folder: string): Promise<DirectoryLock> {
  const lock = await DirectoryLock.take(folder)
  t.after(() => lock.release())
  return lock
}

const STALE: Readonly<Record<string, () => Promise<Readonly<Record<string, unknown>>>>> = {
  'a process that has ended': async () => ({ pid: await deadPid() }),
  'an earlier boot of the machine': async () => ({ bootId: 'another', bootTime: 1_600_000_000 }),
  'a process whose id was used again': async () => ({ pid: process.ppid, processStart: '1' }),
  'an earlier process with the id of this one': async () => ({}),
}

const ELSEWHERE = `id:${'0'.repeat(32)}`

describe('the lock of a data directory', () => {
  it('names the process that holds it to a second one', async (t) => {
    const folder = await temporaryFolder(t)
    await takeLock(t, folder)
    const busy = { code: 'DATA_DIRECTORY_BUSY', message: new RegExp(`\\b${process.pid}\\b`) }
    await assert.rejects(DirectoryLock.take(folder), busy)
  })

  it('can be released twice, and does not release the lock of somebody else', async (t) => {
    const folder = await temporaryFolder(t)
    const lock = await takeLock(t, folder)
    await lock.release()
    await lock.release()
    assert.deepEqual(await locksIn(folder), [])
    await plantLock(folder, {})
    await lock.release()
    assert.deepEqual(await locksIn(folder), ['lock'])
  })

  it('tells others where its holder can be asked', async (t) => {
    const folder = await temporaryFolder(t)
    assert.equal(await readLockHolder(folder), undefined)
    assert.equal(await readLockHolder(join(folder, 'missing')), undefined)
    const lock = await takeLock(t, folder)
    assert.equal((await readLockHolder(folder))?.control, undefined)
    await lock.announce({ control: 'http://127.0.0.1:1' })
    const holder = await readLockHolder(folder)
    assert.deepEqual([holder?.pid, holder?.control], [process.pid, 'http://127.0.0.1:1'])
    assert.deepEqual(await locksIn(folder), ['lock'])
    await lock.release()
    assert.equal(await readLockHolder(folder), undefined)
  })

  for (const [whose, difference] of Object.entries(STALE)) {
    it(`is taken over from ${whose} by one of many only`, {
      skip: isUnknownHere(whose),
    }, async (t) => {
      const folder = await temporaryFolder(t)
      for (let round = 0; round < 20; round++) {
        await plantLock(folder, await difference())
        assert.equal(await readLockHolder(folder), undefined)
        const starters = Array.from({ length: 6 }, () => DirectoryLock.take(folder))
        const results = await Promise.allSettled(starters)
        const locks = results.filter((result) => result.status === 'fulfilled')
        const refusals = results.filter((result) => result.status === 'rejected')
        assert.equal(locks.length, 1)
        for (const { reason } of refusals) assert.equal(reason.code, 'DATA_DIRECTORY_BUSY')
        assert.equal((await readLockHolder(folder))?.pid, process.pid)
        assert.deepEqual(await locksIn(folder), ['lock'])
        await locks[0]?.value.release()
        assert.deepEqual(await locksIn(folder), [])
      }
    })
  }

  it('is left alone when its process says that it began later than others see', async (t) => {
    const folder = await temporaryFolder(t)
    await plantLock(folder, { pid: process.ppid, processStart: '99999999999' })
    await assert.rejects(DirectoryLock.take(folder), { code: 'DATA_DIRECTORY_BUSY' })
    assert.equal((await readLockHolder(folder))?.pid, process.ppid)
  })

  it('is left alone when it is one of another machine, which is named', async (t) => {
    const folder = await temporaryFolder(t)
    const path = join(folder, 'lock')
    const pid = await deadPid()
    await plantLock(folder, { pid, machine: ELSEWHERE, host: 'nas\u001b[1m\n"' })
    const before = await readFile(path, 'utf8')
    const named = new RegExp(`process ${pid} on "nas\\?\\?1m\\?\\?", .* remove ${quoted(path)}$`)
    for (const attempt of [DirectoryLock.take, readLockHolder]) {
      await assert.rejects(attempt(folder), { code: 'DATA_DIRECTORY_BUSY', message: named })
    }
    assert.equal(await readFile(path, 'utf8'), before)
    assert.deepEqual(await locksIn(folder), ['lock'])
  })

  it('is not taken over while another machine takes it over, and says which file it is', async (t) => {
    const folder = await temporaryFolder(t)
    const pid = await deadPid()
    await plantLock(folder, { pid })
    const claim = `lock.${TOKEN}.claim`
    const claimant = { pid, machine: ELSEWHERE, host: 'nas', token: 'cd'.repeat(16) }
    await plantLock(folder, claimant, claim)
    const named = new RegExp(`on "nas", .* remove ${join(folder, claim)}$`)
    await assert.rejects(DirectoryLock.take(folder), {
      code: 'DATA_DIRECTORY_BUSY',
      message: named,
    })
  })

  it('is judged by boot and process when it comes from a version that named no machine', async (t) => {
    const folder = await temporaryFolder(t)
    await plantLock(folder, { pid: await deadPid(), machine: undefined, host: undefined })
    await takeLock(t, folder)
    assert.deepEqual(await locksIn(folder), ['lock'])
  })

  it('is taken over from a program that died while it took it over', async (t) => {
    const folder = await temporaryFolder(t)
    const pid = await deadPid()
    await plantLock(folder, { pid })
    const claimToken = 'cd'.repeat(16)
    await plantLock(folder, { pid, token: claimToken }, `lock.${TOKEN}.claim`)
    await plantLock(folder, { pid, token: 'ef'.repeat(16) }, `lock.${claimToken}.claim`)
    await takeLock(t, folder)
    assert.deepEqual(await locksIn(folder), ['lock'])
  })

  it('is not taken from a program that is just taking it over', async (t) => {
    const folder = await temporaryFolder(t)
    await plantLock(folder, { pid: await deadPid() })
    const claimant = { pid: process.ppid, processStart: undefined, token: 'cd'.repeat(16) }
    await plantLock(folder, claimant, `lock.${TOKEN}.claim`)
    await assert.rejects(DirectoryLock.take(folder), { code: 'DATA_DIRECTORY_BUSY' })
    assert.deepEqual(await locksIn(folder), ['lock', `lock.${TOKEN}.claim`])
  })

  for (const content of ['', '{', '{}', '{"pid":"x"}', '\xff\xfe']) {
    it(`is left alone when it holds ${JSON.stringify(content)}`, async (t) => {
      const folder = await temporaryFolder(t)
      const path = join(folder, 'lock')
      await writeFile(path, content, 'latin1')
      for (const attempt of [DirectoryLock.take, readLockHolder]) {
        await assert.rejects(attempt(folder), {
          code: 'DATA_CORRUPT',
          message: new RegExp(quoted(path)),
        })
      }
      assert.equal(await readFile(path, 'latin1'), content)
    })
  }

  it('never asks about groups of processes', async (t) => {
    const folder = await temporaryFolder(t)
    for (const difference of [{ pid: 0 }, { pid: -1 }, { pid: 1.5 }, { token: '../x' }]) {
      await plantLock(folder, difference)
      await assert.rejects(readLockHolder(folder), { code: 'DATA_CORRUPT' })
    }
  })

  it('is refused when it is a link or a folder', async (t) => {
    const folder = await temporaryFolder(t)
    await symlink('/etc/hostname', join(folder, 'lock'))
    await assert.rejects(DirectoryLock.take(folder), { code: 'DATA_DIRECTORY_UNUSABLE' })
    const other = await temporaryFolder(t)
    await mkdir(join(other, 'lock'))
    await assert.rejects(DirectoryLock.take(other), { code: 'DATA_DIRECTORY_UNUSABLE' })
  })
})

/** Only Linux tells when a process started, and which boot this is. */
function isUnknownHere(whose: string): string | false {
  return process.platform !== 'linux' && !whose.includes('ended') && 'skipped: needs /proc'
}
