/**
 * A data directory that is held as by a running daemon, whose control listener is a fake's.
 * @module
 */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createControl } from '../../src/control/create-control.ts'
import { createControlToken } from '../../src/control/control-token.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Admin } from '../../src/ports/admin.ts'
import type { Panel } from '../../src/ports/panel.ts'
import { openDataDirectory, type DataDirectory } from '../../src/storage/home/data-directory.ts'
import { CaptureLogger } from './capture-logger.ts'
import { FakePanel } from './fake-panel.ts'
import { temporaryFolder } from './temporary-folder.ts'

export interface HeldDirectory {
  readonly dataDir: string
  readonly directory: DataDirectory
}

/** Takes a new data directory, until the test ends. */
export async function holdDataDirectory(t: TestContext): Promise<HeldDirectory> {
  const dataDir = join(await temporaryFolder(t), 'data')
  const directory = await openDataDirectory({ path: dataDir })
  t.after(() => directory.close())
  return { dataDir, directory }
}

/** Serves the control listener of a data directory, and announces it there. */
export async function serveControl(
  t: TestContext,
  { dataDir, directory }: HeldDirectory,
  admin: Admin,
  panel: Panel = new FakePanel(),
): Promise<void> {
  const token = await createControlToken(dataDir)
  const logger = new CaptureLogger()
  const { listener } = createControl({ admin, panel, token, clock: systemClock, logger })
  const server = createServer(listener)
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // `listen` was given an address, so this is one.
  const { port } = server.address() as AddressInfo
  await directory.announce({ control: `http://127.0.0.1:${port}` })
}
