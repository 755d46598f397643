import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { MIB } from '../../src/core/limits.ts'
import { formatConnectLink, parseConnectLink } from '../../src/link/connect-link.ts'
import { ownerOf } from '../support/owner.ts'
import { needs } from '../support/requirements.ts'
import { makeCertificate } from '../support/certificates.ts'
import { startProxy } from './support/counting-proxy.ts'
import { arrives, isText, joinWith, pairPeer, peerOf } from './support/daemons.ts'
import { largestIn } from './support/large-file.ts'
import { MemberProcess } from './support/member-process.ts'
import { joinByProxy } from './support/topology.ts'
import { startTlsFront } from './support/tls-server.ts'
import { sha256 } from '../support/hashes.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A node, and a member that is yet to join. */
async function startTwo(t: TestContext): Promise<readonly [MemberProcess, MemberProcess]> {
  return [await MemberProcess.start(t, 'node'), await MemberProcess.start(t, 'a')]
}

describe('daemons that joined a node', () => {
  it('share texts and files with it and with each other', async (t) => {
    const [node, a] = await startTwo(t)
    const b = await MemberProcess.start(t, 'b')
    await a.join(node)
    await b.join(node)
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
    const { peers } = await (await ownerOf(a.daemon)).status()
    assert.deepEqual([peers.length, peers[0]?.state, peers[0]?.error], [1, 'connected', undefined])
    for (const { daemon } of [node, a, b]) {
      assert.doesNotMatch(daemon.stderr(), / (warn|error) /)
    }
  })

  it('make up for what happened while one of them was away, newest only', async (t) => {
    const [node, a] = await startTwo(t)
    await a.join(node)
    await a.phone.pushText('before')
    await arrives(node, isText('before'))
    await a.stop()
    await node.phone.pushText('meanwhile 1')
    await node.phone.pushText('meanwhile 2')
    await a.start()
    await arrives(a, isText('meanwhile 2'))

    await node.stop()
    await a.phone.pushText('alone 1')
    await a.phone.pushText('alone 2')
    await node.start()
    await arrives(node, isText('alone 2'))
  })

  for (const [name, hasFile] of [
    ['from', 'node'],
    ['to', 'member'],
  ] as const) {
    it(`go on with a file that is on its way ${name} the node when that is killed`, async (t) => {
      const [node, a] = await startTwo(t)
      const bytes = randomBytes(96 * MIB)
      const [source, target] = hasFile === 'node' ? [node, a] : [a, node]
      await source.phone.pushFile('File', 'large.bin', bytes)
      const blobs = join(target.daemon.folder, 'data', 'blobs')
      await a.join(node)
      // Polls the disk, since nobody tells of bytes on their way.
      while ((await largestIn(blobs)) < 16 * MIB);
      await node.kill()
      assert.ok((await largestIn(blobs)) < bytes.length, 'it was killed midway')
      await node.start()
      await arrives(target, ({ type }) => type === 'File')
      assert.equal(sha256(await target.phone.download()), sha256(bytes))
      assert.equal(readdirSync(blobs).length, 1)
    })
  }

  it('send a file once, although the link breaks while it is on its way to the node', async (t) => {
    const [node, a] = await startTwo(t)
    const bytes = randomBytes(96 * MIB)
    await a.phone.pushFile('File', 'large.bin', bytes)
    const blobs = join(node.daemon.folder, 'data', 'blobs')
    const link = await joinByProxy(t, a, node)
    while ((await largestIn(blobs)) < 16 * MIB);
    link.cut()
    assert.ok((await largestIn(blobs)) < bytes.length, 'it was cut midway')
    link.mend()
    await arrives(node, ({ type }) => type === 'File')
    assert.equal(sha256(await node.phone.download()), sha256(bytes))
    assert.ok(link.bytes < bytes.length + 12 * MIB, `${link.bytes} bytes went over it`)
  })

  it('have the later of two items that came while they were apart', async (t) => {
    const [node, a] = await startTwo(t)
    const link = await startProxy(t, node.gateway)
    await a.join(node, { url: link.url })
    for (const [first, second] of [
      [a, node],
      [node, a],
    ] as const) {
      const together = await node.client.pushText(`together, then ${first.name} first`)
      await Promise.all([a, node].map(({ log }) => log.has(together)))
      link.cut()
      await first.client.pushText('earlier')
      const later = await second.client.pushText(`later, on ${second.name}`)
      link.mend()
      await first.log.has(later)
      const marker = await first.client.pushText(`after that of ${second.name}`)
      await Promise.all([a, node].map(({ log }) => log.has(marker)))
    }
    // The earlier one was nowhere but where it came.
    for (const { log, name } of [a, node]) assert.equal(log.ids.length, 7, name)
  })

  it('say so when they are not let in any more, and let go', async (t) => {
    const [node, a] = await startTwo(t)
    const id = await a.join(node)
    await a.phone.pushText('shared')
    await arrives(node, isText('shared'))
    await (await ownerOf(node.daemon)).revoke(id)
    while ((await peerOf(a)).state !== 'refused');
    assert.match(String((await peerOf(a)).error), /does not accept/)
    await a.phone.pushText('not shared')
    assert.equal((await node.phone.document())['text'], 'shared')

    // Once more, under the same name.
    await a.join(node)
    await arrives(node, isText('not shared'))
    const { name } = await peerOf(a)
    await a.daemon.run('leave', String(name))
    assert.equal((await a.daemon.run('peers', '--json')).stdout, '[]\n')
    await a.phone.pushText('alone')
    assert.equal((await node.phone.document())['text'], 'not shared')
    const kept = readFileSync(join(a.daemon.folder, 'data', 'peers.json'), 'utf8')
    assert.equal(kept, '{"version":1,"peers":[]}\n')
  })

  it('refuse a wrong password, and go on with a new one after it was rotated', async (t) => {
    const [node, a] = await startTwo(t)
    const { id, link } = await pairPeer(node)
    const { url, user, o = {} } = parseConnectLink(link)
    const wrong = formatConnectLink({ url, user, pwd: 'not the password', o })
    await assert.rejects(joinWith(a, wrong), { code: 1, stderr: /^Cannot join: .*does not accept/ })
    assert.equal((await a.daemon.run('peers', '--json')).stdout, '[]\n')

    await joinWith(a, link)
    await a.phone.pushText('shared')
    await arrives(node, isText('shared'))
    const rotated = await (await ownerOf(node.daemon)).rotate(id)
    while ((await peerOf(a)).state !== 'refused');
    await a.phone.pushText('not shared yet')
    assert.equal((await node.phone.document())['text'], 'shared')
    await joinWith(a, rotated.link)
    await arrives(node, isText('not shared yet'))
    const { state, error, username } = await peerOf(a)
    assert.deepEqual([state, error, username], ['connected', undefined, rotated.username])
  })

  it('check the certificate of the node, also later', needs('openssl'), async (t) => {
    const [node, a] = await startTwo(t)
    const folder = await temporaryFolder(t)
    const own = await makeCertificate(folder, 'own')
    const other = await makeCertificate(folder, 'other')
    const { url, replace } = await startTlsFront(t, node.gateway, own)
    const isRefused = { code: 1, stderr: /^Cannot join: .*pin it with --tls-fingerprint/ }
    const { link } = await pairPeer(node, url)
    for (const options of [[], ['--tls-fingerprint', other.fingerprint]]) {
      await assert.rejects(joinWith(a, link, options), isRefused)
    }
    assert.equal((await a.daemon.run('peers', '--json')).stdout, '[]\n')

    await a.join(node, { url, tlsFingerprint: own.fingerprint })
    await a.phone.pushText('through TLS')
    await arrives(node, isText('through TLS'))
    replace(other)
    await a.phone.pushText('for the right one only')
    while (!/CERTIFICATE_NOT_PINNED/.test(String((await peerOf(a)).error)));
    assert.equal((await node.phone.document())['text'], 'through TLS')
    replace(own)
    await arrives(node, isText('for the right one only'))
  })
})
