import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createControlToken } from '../../src/control/control-token.ts'
import { loadSettings } from '../../src/daemon/load-settings.ts'
import { openAdmin } from '../../src/daemon/open-admin.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
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
