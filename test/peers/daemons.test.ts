import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { MIB } from '../../src/core/limits.ts'
import { arrives, joinDaemon, peerOf, restart, startMemberDaemon } from './support/daemons.ts'

const isText = (text: string) => (document: { readonly text: string }) => document.text === text

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

describe('daemons that joined a node', () => {
  it('share texts and files with it and with each other', async (t) => {
    const node = await startMemberDaemon(t)
    const [a, b] = [await startMemberDaemon(t), await startMemberDaemon(t)]
    await joinDaemon(a, node)
    await joinDaemon(b, node)
    await a.phone.pushText('from a')
    await Promise.all([node, b].map((member) => arrives(member, isText('from a'))))

    const bytes = randomBytes(3 * MIB)
    await node.phone.pushFile('File', 'photo of us.bin', bytes)
    for (const member of [a, b]) {
      const { size, dataName, hash } = await arrives(member, ({ type }) => type === 'File')
      assert.deepEqual([size, dataName], [bytes.length, 'photo of us.bin'])
      assert.ok(hash !== '', 'it has a hash')
      assert.equal(sha256(await member.phone.download()), sha256(bytes))
    }
    const long = 'a line that is one of many\n'.repeat(200_000)
    await b.phone.pushText(long)
    await Promise.all([node, a].map((member) => arrives(member, isText(long))))
    const { peers } = JSON.parse((await a.daemon.run('status', '--json')).stdout)
    assert.deepEqual([peers.length, peers[0].state, peers[0].error], [1, 'connected', null])
    for (const { daemon } of [node, a, b]) {
      assert.doesNotMatch(daemon.stderr(), / (warn|error) /)
    }
  })

  it('make up for what happened while one of them was away, newest only', async (t) => {
    const node = await startMemberDaemon(t)
    const a = await startMemberDaemon(t)
    await joinDaemon(a, node)
    await a.phone.pushText('before')
    await arrives(node, isText('before'))
    await a.daemon.stop()
    await node.phone.pushText('meanwhile 1')
    await node.phone.pushText('meanwhile 2')
    const again = await restart(t, a)
    await arrives(a, isText('meanwhile 2'))

    await node.daemon.stop()
    await a.phone.pushText('alone 1')
    await a.phone.pushText('alone 2')
    await restart(t, node)
    await arrives(node, isText('alone 2'))
    assert.equal(JSON.parse((await again.run('status', '--json')).stdout).item.type, 'Text')
  })

  it('go on with a file where the node was killed', async (t) => {
    const node = await startMemberDaemon(t)
    const a = await startMemberDaemon(t)
    const bytes = randomBytes(192 * MIB)
    await node.phone.pushFile('File', 'large.bin', bytes)
    const blobs = join(a.daemon.folder, 'data', 'blobs')
    await joinDaemon(a, node)
    // Polls the disk, since nobody tells of bytes on their way.
    while (largest(blobs) < 16 * MIB) await new Promise((resolve) => setImmediate(resolve))
    node.daemon.child.kill('SIGKILL')
    await once(node.daemon.child, 'close')
    assert.ok(largest(blobs) < bytes.length, 'it was killed midway')
    await restart(t, node)
    await arrives(a, ({ type }) => type === 'File')
    assert.equal(sha256(await a.phone.download()), sha256(bytes))
    assert.equal(readdirSync(blobs).length, 1)
  })

  it('say so when they are not let in any more, and let go', async (t) => {
    const node = await startMemberDaemon(t)
    const a = await startMemberDaemon(t)
    const id = await joinDaemon(a, node)
    await a.phone.pushText('shared')
    await arrives(node, isText('shared'))
    await node.daemon.run('revoke', id)
    while ((await peerOf(a))['state'] !== 'refused');
    assert.match(String((await peerOf(a))['error']), /does not accept/)
    await a.phone.pushText('not shared')
    assert.equal((await node.phone.document())['text'], 'shared')

    // Anew, under the same name.
    await joinDaemon(a, node)
    await arrives(node, isText('not shared'))
    const { name } = await peerOf(a)
    await a.daemon.run('leave', String(name))
    assert.equal((await a.daemon.run('peers', '--json')).stdout, '[]\n')
    await a.phone.pushText('alone')
    assert.equal((await node.phone.document())['text'], 'not shared')
    const kept = readFileSync(join(a.daemon.folder, 'data', 'peers.json'), 'utf8')
    assert.equal(kept, '{"version":1,"peers":[]}\n')
  })
})

function largest(folder: string): number {
  return Math.max(0, ...readdirSync(folder).map((name) => statSync(join(folder, name)).size))
}
