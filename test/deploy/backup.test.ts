import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { failToStart, main, startHeadless } from '../faults/support/subject.ts'
import {
  arrives,
  joinDaemon,
  type MemberDaemon,
  peerOf,
  startMemberDaemon,
} from '../peers/support/daemons.ts'
import type { DaemonProcess } from '../support/daemon-process.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { execute } from '../support/execute.ts'

const tar = (...args: readonly string[]) => execute('tar', args)

const startMember = (t: TestContext): Promise<MemberDaemon> => startMemberDaemon(t, { main })

/** Starts it again where it was, on a folder of its own or another one. */
function restart(
  t: TestContext,
  { daemon, gateway }: MemberDaemon,
  folder = daemon.folder,
): Promise<DaemonProcess> {
  return startHeadless(t, { folder, args: ['--listen', new URL(gateway).host] })
}

/** As docs/guides/server.md does it. */
async function backUp(t: TestContext, folder: string): Promise<string> {
  const archive = join(await temporaryFolder(t), 'backup.tar.gz')
  await tar('--create', '--gzip', '--file', archive, '--directory', folder, 'data')
  return archive
}

/** In place of what is there. */
async function restore(archive: string, folder: string): Promise<void> {
  await rename(join(folder, 'data'), join(folder, 'data.old'))
  // `--preserve-permissions` is how root unpacks, whatever the umask.
  const options = ['--extract', '--gzip', '--preserve-permissions']
  await tar(...options, '--file', archive, '--directory', folder)
}

async function modesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found = entries.map(async (entry) => {
    const { mode } = await stat(join(entry.parentPath, entry.name))
    return `${entry.isDirectory() ? 'folder' : 'file'} ${(mode & 0o777).toString(8)}`
  })
  return [...new Set(await Promise.all(found))].sort()
}

describe('a node that is restored from a backup', needs('tar', 'gzip'), () => {
  it('is as it was: devices log in, the item is served, joined daemons come back', async (t) => {
    const node = await startMember(t)
    const home = await startMember(t)
    await joinDaemon(home, node)
    const photo = randomBytes(500_000)
    await node.phone.pushFile('File', 'photo.bin', photo)
    await arrives(home, ({ dataName }) => dataName === 'photo.bin')

    await node.daemon.stop()
    const archive = await backUp(t, node.daemon.folder)
    await restore(archive, node.daemon.folder)
    assert.deepEqual(await modesIn(join(node.daemon.folder, 'data')), ['file 600', 'folder 700'])
    await restart(t, node)
    assert.deepEqual(await node.phone.download(), photo)

    await node.phone.pushText('after')
    await arrives(home, ({ text }) => text === 'after')
    await home.phone.pushText('and back')
    await arrives(node, ({ text }) => text === 'and back')
    assert.equal((await peerOf(home)).state, 'connected')
  })

  it('has old passwords and revoked devices again, and the newest item of the others', async (t) => {
    const node = await startMember(t)
    const home = await startMember(t)
    await joinDaemon(home, node)
    const [lost, kept] = [await node.daemon.pair('Lost'), await node.daemon.pair('Kept')]
    await node.phone.pushText('old')
    await arrives(home, ({ text }) => text === 'old')
    await node.daemon.stop()
    const archive = await backUp(t, node.daemon.folder)

    const meanwhile = await restart(t, node)
    await meanwhile.run('revoke', lost.id)
    const rotated = JSON.parse((await meanwhile.run('rotate', kept.id, '--json')).stdout)
    const added = await meanwhile.pair('Added')
    await node.phone.pushText('new')
    await arrives(home, ({ text }) => text === 'new')
    await meanwhile.stop()
    await home.daemon.stop()

    await restore(archive, node.daemon.folder)
    await restart(t, node)
    assert.equal((await node.phone.document())['text'], 'old')
    const statusOf = async (device: { username: string; password: string }): Promise<number> =>
      (await createPhone(device, node.gateway).fetch('/')).status
    // One after the other: verifying a password takes its time, and the queue for it is bounded.
    const statuses: number[] = []
    for (const device of [lost, kept, rotated, added]) statuses.push(await statusOf(device))
    assert.deepEqual(statuses, [200, 200, 401, 401])
    await restart(t, home)
    await arrives(node, ({ text }) => text === 'new')
  })

  it('starts from a copy that was made after a power failure, with the lock in it', async (t) => {
    const node = await startMember(t)
    await node.phone.pushText('kept')
    await node.daemon.kill()
    // As another boot leaves it, of a process whose id somebody else has by now.
    const path = join(node.daemon.folder, 'data', 'lock')
    const lock = JSON.parse(await readFile(path, 'utf8'))
    const bootId = '01234567-89ab-cdef-0123-456789abcdef'
    const old = { ...lock, pid: process.pid, bootId, bootTime: lock.bootTime - 86_400 }
    await writeFile(path, JSON.stringify(old))
    const archive = await backUp(t, node.daemon.folder)

    const elsewhere = await temporaryFolder(t)
    await mkdir(join(elsewhere, 'data'))
    await restore(archive, elsewhere)
    await restart(t, node, elsewhere)
    assert.equal((await node.phone.document())['text'], 'kept')
  })

  it('starts from such a copy of another machine once its lock is removed, as it says', async (t) => {
    const node = await startMember(t)
    await node.phone.pushText('kept')
    await node.daemon.kill()
    const { folder } = node.daemon
    const path = join(folder, 'data', 'lock')
    const lock = JSON.parse(await readFile(path, 'utf8'))
    const other = { ...lock, machine: `id:${'0'.repeat(32)}`, host: 'old-server', bootId: 'other' }
    await writeFile(path, JSON.stringify(other))
    const { stderr } = await failToStart(t, folder)
    assert.match(
      stderr,
      /on "old-server", since .*; if "old-server" is gone for good, remove \S+\/lock\n$/,
    )
    await unlink(path)
    await restart(t, node)
    assert.equal((await node.phone.document())['text'], 'kept')
  })
})
