/**
 * The port `Admin` on the data directory, while no daemon runs on it.
 *
 * @module
 */

import { createDeviceAdmin } from '../control/device-admin.ts'
import type { LinkBase } from '../control/device-admin.ts'
import { createIdlePeers } from '../peers/peer-links.ts'
import type { Admin } from '../ports/admin.ts'
import type { Logger } from '../ports/logger.ts'
import { chooseBaseUrl } from './addresses.ts'
import { openConfigured } from './open-clipboard.ts'
import { readInterfaces } from './read-interfaces.ts'
import { NOT_RUNNING, readStatus } from './read-status.ts'
import { defaultListen, type Settings } from './settings.ts'

/**
 * Opens the data directory. What is changed holds from the next start on.
 *
 * @throws {DomainError} `DATA_DIRECTORY_BUSY`, `DATA_DIRECTORY_UNUSABLE`, `DATA_CORRUPT`.
 */
export async function openLocalAdmin(settings: Settings, logger: Logger): Promise<Admin> {
  const clipboard = await openConfigured(settings, logger, { isBrief: true })
  const peers = createIdlePeers(clipboard.peerStore)
  return createDeviceAdmin({
    devices: clipboard.devices,
    status: () => readStatus(clipboard, { ...NOT_RUNNING, peers: peers.list() }),
    linkBase: () => expectedBase(settings),
    countStreams: () => 0,
    peers,
    close: () => clipboard.close(),
  })
}

/** Where the gateway will be found once it runs. */
function expectedBase({ listen, headless, publicUrl }: Settings): LinkBase {
  const bound = listen ?? defaultListen(headless ? 'headless' : 'desktop')
  const base = chooseBaseUrl(bound, readInterfaces(), publicUrl)
  const isUnknown = publicUrl === undefined && bound.some(({ port }) => port === 0)
  if (!isUnknown) return base
  const warning =
    'The port of the gateway is picked at its start: pair while it runs, or set --public-url'
  return { url: base.url, warning }
}
