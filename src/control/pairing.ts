/**
 * Makes the connect link of a device.
 *
 * @module
 */

import { formatConnectLink } from '../link/connect-link.ts'
import { LinkError } from '../link/link-error.ts'
import type { Pairing } from '../ports/admin.ts'
import type { MintedDevice } from '../ports/device-registry.ts'

/** The base URL of a link, and why a phone may not reach it. */
export interface LinkBase {
  readonly url: string
  readonly warning: string | undefined
}

/** Names the family of protocols, so that a client of several knows which one to speak. */
const PROTOCOL = 'syncclipboard'

/** Of minted names and passwords. */
const LONGEST_USERNAME = 'x'.repeat(32)
const MINTED_PASSWORD = 'x'.repeat(22)

/** Everything that connects a device, from its minted credential. */
export function toPairing({ device, password }: MintedDevice, { url, warning }: LinkBase): Pairing {
  const { id, kind, label, username } = device
  const link = formatLink({ url, user: username, pwd: password }, { did: id, label })
  return { id, kind, label, username, password, url, link, warning }
}

/**
 * Checks that there can be a link before a device is paired: a device whose password nobody was
 * shown would be of no use.
 *
 * @throws {LinkError}
 */
export function checkLinkable(
  url: string,
  username: string | undefined,
  password: string | undefined,
): void {
  const isUsable = username !== undefined && /^[A-Za-z][A-Za-z0-9_]{5,31}$/.test(username)
  // Whether the name will do is for the registry to say; here only lengths count.
  const user = isUsable ? username : LONGEST_USERNAME
  formatConnectLink({ url, user, pwd: password || MINTED_PASSWORD })
}

interface LinkCore {
  readonly url: string
  readonly user: string
  readonly pwd: string
}

/** With as much of the metadata as fits: nothing depends on it. */
function formatLink(core: LinkCore, { did, label }: { did: string; label: string }): string {
  const proto = PROTOCOL
  const choices = [{ did, label, proto }, { did, proto }, { proto }]
  for (const o of choices) {
    try {
      return formatConnectLink({ ...core, o })
    } catch (error) {
      if (!(error instanceof LinkError) || error.code !== 'LINK_TOO_LONG') throw error
    }
  }
  return formatConnectLink(core)
}
