import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { OpeningFile, writeOpeningFile } from '../../src/daemon/opening-file.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const URL = 'http://127.0.0.1:42721/?a#token'

/** Where no desktop names a browser. */
const WHERE = { platform: 'linux', environment: { PATH: '' }, home: '/nonexistent' } as const

describe('the file that leads a browser to the panel', () => {
  it('is removed a minute after the last address was given, however many there were', async (t) => {
    const folder = await temporaryFolder(t)
    const clock = new FakeClock()
    const file = new OpeningFile(folder, { clock, logger: new CaptureLogger() })
    file.removeLater()
    await writeOpeningFile(folder, URL, WHERE)
    clock.advance(40_000)
    file.removeLater()
    assert.equal(clock.pending, 1)
    clock.advance(59_999)
    assert.deepEqual(await readdir(folder), ['open-panel.html'])
    clock.advance(1)
    while ((await readdir(folder)).length > 0);
    assert.equal(clock.pending, 0)
  })

  it('goes with the daemon, and nothing else does', async (t) => {
    const folder = await temporaryFolder(t)
    const clock = new FakeClock()
    const logger = new CaptureLogger()
    const file = new OpeningFile(folder, { clock, logger })
    file.removeLater()
    for (const name of ['open-panel.html', 'other']) await writeFile(join(folder, name), '')
    await file.remove()
    assert.deepEqual([await readdir(folder), clock.pending, logger.text], [['other'], 0, ''])
  })

  it('goes from the folder of a browser too', async (t) => {
    const [folder, sandbox] = [await temporaryFolder(t), await temporaryFolder(t)]
    const path = join(sandbox, 'clipgate-open-panel.html')
    for (const isThere of [true, false]) {
      if (isThere) await writeFile(path, '')
      await symlink(path, join(folder, 'open-panel.html'))
      const logger = new CaptureLogger()
      await new OpeningFile(folder, { clock: new FakeClock(), logger }).remove()
      assert.deepEqual([await readdir(folder), await readdir(sandbox), logger.text], [[], [], ''])
    }
  })

  it('is never what somebody else has put behind a link in its place', async (t) => {
    const [folder, other] = [await temporaryFolder(t), await temporaryFolder(t)]
    const mine = join(other, 'mine.html')
    await writeFile(mine, 'mine')
    const logger = new CaptureLogger()
    await symlink(mine, join(folder, 'open-panel.html'))
    await new OpeningFile(folder, { clock: new FakeClock(), logger }).remove()
    assert.deepEqual([await readdir(folder), await readdir(other)], [[], ['mine.html']])
    await symlink(mine, join(folder, 'open-panel.html'))
    await writeOpeningFile(folder, URL, WHERE)
    assert.equal(await readFile(mine, 'utf8'), 'mine')
    assert.equal(logger.text, '')
  })

  it('is refused in words where a folder has its place', async (t) => {
    const folder = await temporaryFolder(t)
    await mkdir(join(folder, 'open-panel.html'))
    await assert.rejects(writeOpeningFile(folder, URL, WHERE), /open-panel\.html is a folder; move/)
  })

  it('that cannot be removed is in the log, and stops nothing', async (t) => {
    const folder = await temporaryFolder(t)
    const logger = new CaptureLogger()
    await mkdir(join(folder, 'open-panel.html'))
    await new OpeningFile(folder, { clock: new FakeClock(), logger }).remove()
    assert.deepEqual(await readdir(folder), ['open-panel.html'])
    assert.match(logger.text, /Cannot remove open-panel\.html/)
  })
})
