/** Lets a server of a test listen where nobody else does. @module */

import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import type { TestContext } from 'node:test'

/** A server of `node:http` also has connections that wait for the next request. */
type AnyServer = Server & { readonly closeAllConnections?: () => void }

/** Listens on a free port of this machine until the test ends. @returns The port. */
export async function listen(
  t: TestContext,
  server: AnyServer,
  host: string = '127.0.0.1',
): Promise<number> {
  await once(server.listen(0, host), 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections?.()
  })
  // `listen` was given an address, so this is one.
  return (server.address() as AddressInfo).port
}
