import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { NotificationSender } from '../../../src/desktop/notifications/notification-sender.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { fakeNotifySend, usePath } from '../../support/fake-notify-send.ts'
import { Mailbox } from '../../support/mailbox.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const NOTE = { title: 'Title', text: 'Text' }

/** A logger on which the test can wait. */
class HeardLogger extends CaptureLogger {
  readonly warnings = new Mailbox<string>()

  override warn(message: string): void {
    super.warn(message)
    this.warnings.put(message)
  }
}

describe('a sender of notifications', () => {
  it('shows them one after the other, and not more than a person wants to read', async (t) => {
    const { path, calls } = await fakeNotifySend(t)
    usePath(t, path)
    const sender = new NotificationSender(new CaptureLogger())
    t.after(() => sender.close())
    for (let n = 0; n < 50; n += 1) sender.send({ ...NOTE, text: `${n}` })
    // The first is on its way, and eight more wait.
    for (let n = 0; n < 9; n += 1) assert.equal((await calls.next()).at(-1), `${n}`)
    sender.send({ ...NOTE, text: 'later' })
    assert.equal((await calls.next()).at(-1), 'later')
  })

  it('says once that the program is missing, and never tries again', async (t) => {
    const folder = await temporaryFolder(t)
    usePath(t, folder)
    const logger = new HeardLogger()
    const sender = new NotificationSender(logger)
    sender.send(NOTE)
    sender.send(NOTE)
    assert.match(await logger.warnings.next(), /missing/)
    const { path, calls } = await fakeNotifySend(t)
    usePath(t, path)
    sender.send(NOTE)
    const other = new NotificationSender(logger)
    t.after(() => other.close())
    other.send({ ...NOTE, text: 'of the other' })
    assert.equal((await calls.next()).at(-1), 'of the other')
    assert.equal(logger.lines.length, 1)
  })

  it('says once that the program failed, and goes on trying', async (t) => {
    const { path, calls } = await fakeNotifySend(t, 1)
    usePath(t, path)
    const logger = new HeardLogger()
    const sender = new NotificationSender(logger)
    t.after(() => sender.close())
    for (let n = 0; n < 3; n += 1) {
      sender.send(NOTE)
      await calls.next()
    }
    await logger.warnings.next()
    assert.equal(logger.lines.length, 1)
    assert.doesNotMatch(logger.text, /Text/)
  })

  it('shows nothing once it is closed', async (t) => {
    const { path, calls } = await fakeNotifySend(t)
    usePath(t, path)
    const logger = new CaptureLogger()
    const sender = new NotificationSender(logger)
    sender.send(NOTE)
    sender.send(NOTE)
    sender.close()
    sender.send(NOTE)
    const other = new NotificationSender(logger)
    t.after(() => other.close())
    other.send({ ...NOTE, text: 'of the other' })
    // The first may have been under way already.
    let last = (await calls.next()).at(-1)
    if (last === 'Text') last = (await calls.next()).at(-1)
    assert.equal(last, 'of the other')
    assert.deepEqual(logger.lines, [])
  })
})
