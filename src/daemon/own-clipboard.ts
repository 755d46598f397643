/**
 * The clipboard of the daemon that runs here: the client of the protocol, by way of the control
 * listener, with its token in the place of a password.
 * @module
 */

import { connectTo, type Client } from '../client/connect.ts'
import { openServer, type Send } from '../client/server.ts'
import { OWNER_PATH } from '../gateway/owner-routes.ts'
import { createNodeFetch } from '../fetch/node-fetch.ts'
import { findRunning } from './open-admin.ts'

/**
 * Opens the clipboard of the daemon that runs on a data directory; `undefined` when none does. The
 * client finds one that is started again, with its new token.
 *
 * @throws {DomainError} `DATA_DIRECTORY_BUSY` when the daemon cannot be asked; `DATA_CORRUPT`.
 */
export async function openOwnClipboard(dataDir: string): Promise<Client | undefined> {
  const address = await findRunning(dataDir)
  if (address === undefined) return undefined
  const base = address.url + OWNER_PATH
  // The global `fetch` may go through a proxy.
  const { fetch } = createNodeFetch()
  const send: Send = async (url, init) => {
    const now = await findRunning(dataDir)
    if (now === undefined) throw new TypeError('fetch failed', { cause: noDaemon() })
    const headers = { ...init.headers, Authorization: `Bearer ${now.token}` }
    return fetch(now.url + OWNER_PATH + url.slice(base.length), { ...init, headers })
  }
  return connectTo(openServer({ url: base, username: 'owner', password: 'none' }, { send }))
}

function noDaemon(): Error {
  return Object.assign(new Error('no daemon runs'), { code: 'ECONNREFUSED' })
}
