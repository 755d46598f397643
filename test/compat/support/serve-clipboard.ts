/**
 * The product itself, on a free port: its server, its gateway, its pipeline and its disk. Only the
 * passwords are not hashed for real, since each scenario has a clipboard of its own.
 * @module
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../../../src/http/server.ts'
import { createGateway, openStation } from '../../../src/gateway.ts'
import { AsyncCleanup } from '../../../src/lib/async-cleanup.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { FakeVerifier } from '../../support/fake-verifier.ts'
import { openTestDevices } from '../../support/test-devices.ts'
import { createPhone } from '../../support/phone.ts'
import type { Stage } from './client.ts'

export interface ServedClipboard extends Stage {
  readonly logger: CaptureLogger
}

/** Serves an empty clipboard for as long as `use` takes. */
export async function withClipboard<Result>(
  use: (clipboard: ServedClipboard) => Promise<Result>,
): Promise<Result> {
  const cleanup = new AsyncCleanup()
  try {
    return await use(await serve(cleanup))
  } finally {
    await cleanup.run()
  }
}

async function serve(cleanup: AsyncCleanup): Promise<ServedClipboard> {
  const dataDir = await mkdtemp(join(tmpdir(), 'clipgate-test-'))
  cleanup.add(() => rm(dataDir, { recursive: true, force: true }))
  const clock = new FakeClock()
  const logger = new CaptureLogger()
  const devices = await openTestDevices(() => clock.now())
  const clipboard = await openStation({ dataDir, clock, logger, devices })
  cleanup.add(() => clipboard.close())

  const verifier = new FakeVerifier(devices)
  const listener = createGateway({ ...clipboard, devices, verifier }, { version: '1.2.3' })
  const limits = { maxConnections: 100, maxConnectionsPerAddress: 100 }
  const server = await startServer({ listener, host: '127.0.0.1', port: 0, ...limits })
  cleanup.add(async () => void (await server.stop(0)))

  const client = await devices.add({ kind: 'phone' })
  const other = await devices.add({ kind: 'phone' })
  const url = `http://127.0.0.1:${server.port}`
  return {
    port: server.port,
    clock,
    logger,
    credentials: Buffer.from(`${client.device.username}:${client.password}`).toString('base64'),
    phone: createPhone({ username: other.device.username, password: other.password }, url),
  }
}
