import assert from 'node:assert/strict'
import { once } from 'node:events'
import { truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { openStation } from '../../src/station/open-station.ts'
import { createGateway } from '../../src/gateway/create-gateway.ts'
import { createCopySharing } from '../../src/inbound/share-copies.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { listen } from '../support/listen.ts'
import { makeTree } from '../support/make-tree.ts'
import { createPhone } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A gateway over a data directory, the way in for copies, and a phone. */
async function setUp(t: TestContext) {
  const logger = new CaptureLogger()
  const clipboard = await openStation({ dataDir: await temporaryFolder(t), logger })
  t.after(() => clipboard.close())
  const gateway = createGateway(clipboard, { version: '1.2.3' })
  const port = await listen(t, createServer(gateway).on('checkContinue', gateway))
  const { device, password } = await clipboard.devices.add({ kind: 'phone', label: 'Phone' })
  const phone = createPhone({ username: device.username, password }, `http://127.0.0.1:${port}`)
  return { phone, port, logger, share: createCopySharing(clipboard) }
}

describe('a copied group on the wire', () => {
  it('is described without being read, and 404 when a file has changed', async (t) => {
    const { phone, share } = await setUp(t)
    const folder = await makeTree(t, { 'g/a': 'x', 'g/b': 'y' })
    await share({ kind: 'files', paths: [join(folder, 'g')] })
    const length = String((await phone.download()).length)
    await writeFile(join(folder, 'g/b'), 'changed')
    const head = await phone.fetch('/file/g.zip', { method: 'HEAD' })
    const { status, headers } = head
    assert.deepEqual(
      [status, headers.get('content-length'), headers.get('content-type')],
      [200, length, 'application/zip'],
    )
    assert.equal((await phone.fetch('/file/g.zip')).status, 404)
  })

  it('breaks the connection when a file changes during the download', async (t) => {
    const { phone, port, share, logger } = await setUp(t)
    const folder = await makeTree(t, { 'g/a': '', 'g/b': 'hello' })
    // More than the connection holds, and no byte on the disk.
    await truncate(join(folder, 'g/a'), 64 * 2 ** 20)
    await share({ kind: 'files', paths: [join(folder, 'g')] })
    const { size } = await phone.document()

    const socket = connect(port, '127.0.0.1')
    socket.write(
      `GET /file/g.zip HTTP/1.1\r\nHost: x\r\nAuthorization: ${phone.authorization}\r\n\r\n`,
    )
    const [first] = await once(socket, 'data')
    assert.match(String(first), /^HTTP\/1\.1 200 /)
    socket.pause()
    await writeFile(join(folder, 'g/b'), 'jello')
    let received = first.length
    socket.on('data', (chunk) => (received += chunk.length)).resume()
    // A reset is a way to break a connection.
    socket.on('error', () => {})
    if (!socket.destroyed) await once(socket, 'close')
    assert.equal(received < Number(size), true, 'the end never came')
    assert.doesNotMatch(logger.text, /clipgate-user/)
  })
})
