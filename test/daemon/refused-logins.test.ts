import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { startDaemon } from '../../src/daemon/start-daemon.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { NEW_PHONE } from '../support/owner.ts'
import { createPhone } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { runCommand } from '../support/test-shell.ts'

it('a daemon tells why a phone does not get in, and what came of each request, but no secret', async (t) => {
  const dataDir = join(await temporaryFolder(t), 'data')
  const address = { host: '127.0.0.1', port: 0 }
  const logger = new CaptureLogger()
  const settings = { dataDir, headless: true, listen: [address], control: address } as const
  const daemon = await startDaemon(settings, { logger })
  t.after(() => daemon.stop())
  const paired = await daemon.admin.pair({ ...NEW_PHONE, username: 'my_phone', label: 'My phone' })
  const { id: device } = paired
  const { gateway } = daemon.ready
  const phone = createPhone(paired, gateway)
  const mistaken = createPhone({ username: 'my_phone', password: 'a wrong secret' }, gateway)
  const stranger = createPhone({ username: 'secret_name', password: 'a wrong secret' }, gateway)

  await phone.pushText('a secret text')
  await phone.pushFile('File', 'a secret.bin', Buffer.from('a secret file'))
  assert.equal((await phone.fetch('/file/another%20secret')).status, 404)
  for (const other of [mistaken, stranger]) assert.equal((await other.fetch('/')).status, 401)
  await runCommand(['push', '--data-dir', dataDir], { stdin: 'my secret' })

  const lines = logger.lines
    .filter(({ level }) => level === 'debug')
    .map(({ message, fields }) => ({ message, ...fields }))
  const from = { address: '127.0.0.1' }
  const wanted = [
    { message: 'A device logged in', device, ...from },
    { message: 'A push became current', device, type: 'Text', size: 13 },
    { message: 'A push became current', device, type: 'File', size: 13 },
    { message: 'A request was refused', device, method: 'GET', code: 'NOT_FOUND' },
    { message: 'A login was refused', device, ...from },
    { message: 'A login was refused', device: undefined, ...from },
    { message: 'A push became current', device: 'owner', type: 'Text', size: 9 },
  ]
  for (const line of wanted) {
    assert.ok(
      lines.some((logged) => JSON.stringify(logged) === JSON.stringify(line)),
      JSON.stringify([line, lines]),
    )
  }
  assert.doesNotMatch(logger.text, /secret/)

  const [told] = await daemon.admin.devices()
  assert.deepEqual([told?.refused?.count, told?.refused?.lastAddress], [1, '127.0.0.1'])
  const { stdout } = await runCommand(['devices', '--data-dir', dataDir])
  assert.match(stdout, / REFUSED LOGINS\n.* 1 time: the password, .* from 127\.0\.0\.1\n$/)
  const doctor = await runCommand(['doctor', '--data-dir', dataDir])
  assert.match(
    doctor.stdout,
    /1 paired; logins as my_phone are refused: the password\n.*rotate my_phone/,
  )
  const json = await runCommand(['devices', '--json', '--data-dir', dataDir])
  assert.equal(JSON.parse(json.stdout)[0].refused.count, 1)
})
