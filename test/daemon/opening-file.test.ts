import assert from 'node:assert/strict'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { OpeningFile, writeOpeningFile } from '../../src/daemon/opening-file.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const URL = 'http://127.0.0.1:42721/?a#token'

describe('the file that leads a browser to the panel', () => {
  it('is removed a minute after the last address was given, however many there were', async (t) => {
    const folder = await temporaryFolder(t)
    const clock = new FakeClock()
    const file = new OpeningFile(folder, { clock, logger: new CaptureLogger() })
    file.removeLater()
    await writeOpeningFile(folder, URL)
    clock.advance(40_000)
    file.removeLater()
    assert.equal(clock.pending, 1)
    clock.advance(59_999)
    assert.deepEqual(await readdir(folder), ['open-panel.html'])
    clock.advance(1)
    while ((await readdir(folder)).length > 0);
    assert.equal(clock.pending, 0)
  })

  it('goes with the daemon, and with the key of an earlier version', async (t) => {
    const folder = await temporaryFolder(t)
    const clock = new FakeClock()
    const logger = new CaptureLogger()
    const file = new OpeningFile(folder, { clock, logger })
    file.removeLater()
    for (const name of ['open-panel.html', 'panel.key', 'other'])
      await writeFile(join(folder, name), '')
    await file.remove()
    assert.deepEqual([await readdir(folder), clock.pending, logger.text], [['other'], 0, ''])
  })

  it('that cannot be removed is in the log, and stops nothing', async (t) => {
    const folder = await temporaryFolder(t)
    const logger = new CaptureLogger()
    await mkdir(join(folder, 'panel.key'))
    await writeOpeningFile(folder, URL)
    await new OpeningFile(folder, { clock: new FakeClock(), logger }).remove()
    assert.deepEqual(await readdir(folder), ['panel.key'])
    assert.match(logger.text, /Cannot remove panel\.key/)
  })
})
