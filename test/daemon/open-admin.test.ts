import assert from 'node:assert/strict'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createControlToken } from '../../src/control/control-token.ts'
import { loadSettings } from '../../src/daemon/load-settings.ts'
import { openAdmin } from '../../src/daemon/open-admin.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { defer } from '../support/defer.ts'
import { createFakeAdmin } from '../support/fake-admin.ts'
import { holdDataDirectory, serveControl } from '../support/held-data-directory.ts'

/** A data directory that is held, as by a daemon, and who wants to get at it. */
async function hold(t: TestContext) {
  const held = await holdDataDirectory(t)
  const { dataDir } = held
  const where = { platform: 'linux', home: dataDir, environment: {} } as const
  const settings = loadSettings({ options: { dataDir }, where, cwd: '/' })
  return { ...held, ask: () => openAdmin(settings, new CaptureLogger()) }
}

describe('openAdmin()', () => {
  it('waits for a daemon that is about to have its listener', async (t) => {
    const held = await hold(t)
    const asked = held.ask()
    await serveControl(t, held, await createFakeAdmin())
    assert.equal((await (await asked).status()).running, true)
  })

  it('waits for each holder as long, when others take its place', async (t) => {
    const held = await hold(t)
    const lock = join(held.dataDir, 'lock')
    const hasWaited = defer<void>()
    let looks = 0
    t.mock.method(process, 'uptime', () => {
      looks += 1
      // Another one takes its place before the time of the first is over.
      if (looks === 2) {
        const record = {
          ...JSON.parse(readFileSync(lock, 'utf8')),
          startedAt: '2026-01-01T00:00:00.000Z',
        }
        writeFileSync(`${lock}.next`, JSON.stringify(record))
        renameSync(`${lock}.next`, lock)
      }
      if (looks === 4) hasWaited.resolve()
      return looks < 3 ? 0 : 11
    })
    const asked = held.ask()
    await Promise.race([hasWaited.promise, asked])
    await serveControl(t, held, await createFakeAdmin())
    assert.equal((await (await asked).status()).running, true)
  })

  it('says in one line that the holder does not answer, and what to do', async (t) => {
    const { dataDir, directory, ask } = await hold(t)
    await createControlToken(dataDir)
    await directory.announce({ control: 'http://127.0.0.1:1' })
    const admin = await ask()
    await assert.rejects(admin.devices(), {
      code: 'DATA_DIRECTORY_BUSY',
      message: new RegExp(
        `^Cannot reach the daemon \\(process ${process.pid}\\): .*ECONNREFUSED; `,
      ),
    })
  })

  it('says so when the token is another one, or gone', async (t) => {
    const held = await hold(t)
    await serveControl(t, held, await createFakeAdmin())
    await writeFile(join(held.dataDir, 'control.token'), 'another token')
    await assert.rejects((await held.ask()).devices(), {
      code: 'DATA_DIRECTORY_BUSY',
      message: /does not accept control\.token/,
    })
    await rm(join(held.dataDir, 'control.token'))
    await assert.rejects(held.ask(), {
      code: 'DATA_DIRECTORY_BUSY',
      message: /control\.token cannot be read/,
    })
  })
})
