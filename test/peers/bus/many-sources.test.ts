import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { MIB } from '../../../src/core/limits.ts'
import { needs } from '../../support/requirements.ts'
import { arrives } from '../support/daemons.ts'
import { largestIn } from '../support/large-file.ts'
import { newKey, startOnBus } from './support/bus-daemons.ts'
import { startBroker } from './support/nats-broker.ts'
import { sha256 } from '../../support/hashes.ts'

const BYTES: number = 192 * MIB

describe('a file on its way over a bus', needs('nats-server'), () => {
  it('comes from another member when the one that had it is killed midway', async (t) => {
    const broker = await startBroker(t)
    const [key, url] = [newKey(), broker.url]
    const a = await startOnBus(t, { key, url })
    const [b, c] = [await startOnBus(t, { key, url }), await startOnBus(t, { key, url })]
    const bytes = randomBytes(BYTES)
    // It hears of the file from a, and only when b has it as well, which b tells nobody.
    c.daemon.child.kill('SIGSTOP')
    await a.phone.pushFile('File', 'large.bin', bytes)
    await arrives(b, ({ type }) => type === 'File')
    c.daemon.child.kill('SIGCONT')
    const blobs = join(c.daemon.folder, 'data', 'blobs')
    // Polls the disk, since nobody tells of bytes on their way.
    while ((await largestIn(blobs)) < 16 * MIB);
    await a.daemon.kill()
    assert.ok((await largestIn(blobs)) < BYTES, 'it was killed midway')
    await arrives(c, ({ type }) => type === 'File')
    assert.equal(sha256(await c.phone.download()), sha256(bytes))
    assert.equal(readdirSync(blobs).length, 1)
    assert.doesNotMatch(c.daemon.stderr(), /Cannot get/, 'it went on, and did not begin again')
  })
})
