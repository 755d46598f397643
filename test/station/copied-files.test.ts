import assert from 'node:assert/strict'
import { appendFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { it } from 'node:test'
import { createGateway } from '../../src/gateway/create-gateway.ts'
import { createCopySharing } from '../../src/inbound/share-copies.ts'
import { openStation } from '../../src/station/open-station.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { sha256 } from '../support/hashes.ts'
import { listen } from '../support/listen.ts'
import { createPhone } from '../support/phone.ts'
import { temporaryFile, temporaryFolder } from '../support/temporary-folder.ts'

it('a document that means a copied file asks for its bytes once the file has changed', async (t) => {
  const station = await openStation({
    dataDir: await temporaryFolder(t),
    logger: new CaptureLogger(),
  })
  t.after(() => station.close())
  const server = createServer(createGateway(station, { version: '1' }))
  const url = `http://127.0.0.1:${await listen(t, server)}`
  const { device, password } = await station.devices.add({ kind: 'phone' })
  const phone = createPhone({ username: device.username, password }, url)
  const path = await temporaryFile(t, 'report.pdf', 'a report')
  const document = { type: 'File', dataName: 'report.pdf', hash: sha256('a report'), hasData: true }
  const push = () => phone.fetch('/Sync.json', { method: 'PUT', body: JSON.stringify(document) })
  await createCopySharing(station)({ kind: 'files', paths: [path] })
  await phone.pushText('newer')
  assert.equal((await push()).status, 200)
  assert.equal(String(await phone.download()), 'a report')
  await phone.pushText('newest')
  await appendFile(path, ', changed')
  const refused = await push()
  // Other members send their bytes for nothing else.
  assert.equal(refused.status, 404)
  assert.match(await refused.text(), /NOTHING_STAGED/)
  assert.equal((await phone.document())['text'], 'newest')
})
