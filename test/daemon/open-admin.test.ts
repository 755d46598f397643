import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createControl } from '../../src/control/create-control.ts'
import { createControlToken } from '../../src/control/control-token.ts'
import { loadSettings } from '../../src/daemon/load-settings.ts'
import { openAdmin } from '../../src/daemon/open-admin.ts'
import { openDataDirectory } from '../../src/storage/data-directory.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { temporaryFolder } from '../support/daemon-process.ts'
import { createFakeAdmin } from '../support/fake-admin.ts'

/** A data directory that is held, as by a daemon, and who wants to get at it. */
async function hold(t: TestContext) {
  const dataDir = join(await temporaryFolder(t), 'data')
  const directory = await openDataDirectory({ path: dataDir })
  t.after(() => directory.close())
  const where = { platform: 'linux', home: dataDir, environment: {} } as const
  const settings = loadSettings({ options: { dataDir }, where, cwd: '/' })
  return { dataDir, directory, ask: () => openAdmin(settings, new CaptureLogger()) }
}

/** A control listener, and its URL. */
async function serveControl(t: TestContext, token: string): Promise<string> {
  const logger = new CaptureLogger()
  const server = createServer(createControl({ admin: createFakeAdmin(), token, logger }))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

describe('openAdmin()', () => {
  it('asks the daemon that holds the data directory', async (t) => {
    const { dataDir, directory, ask } = await hold(t)
    await directory.announce({ control: await serveControl(t, await createControlToken(dataDir)) })
    const admin = await ask()
    assert.equal((await admin.status()).pid, 4711)
    await assert.rejects(admin.rotate('nobody_here'), { code: 'NO_SUCH_DEVICE' })
    await admin.close()
  })

  it('waits for a daemon that is about to have its listener', async (t) => {
    const { dataDir, directory, ask } = await hold(t)
    const asked = ask()
    const control = await serveControl(t, await createControlToken(dataDir))
    await directory.announce({ control })
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
    const { dataDir, directory, ask } = await hold(t)
    await directory.announce({ control: await serveControl(t, 'another token') })
    await writeFile(join(dataDir, 'control.token'), 'one token')
    await assert.rejects((await ask()).devices(), {
      code: 'DATA_DIRECTORY_BUSY',
      message: /does not accept control\.token/,
    })
    await rm(join(dataDir, 'control.token'))
    await assert.rejects(ask(), {
      code: 'DATA_DIRECTORY_BUSY',
      message: /control\.token cannot be read/,
    })
  })
})
