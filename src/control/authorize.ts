/**
 * Who may use the control listener: programs of this machine that can read the token, and pages of
 * the panel that were opened with its address. No other page may, whatever name it gave to this
 * address.
 * @module
 */

import { isIPv6 } from 'node:net'
import { OWNER_ID, type Owner } from '../core/owner.ts'
import type { Call } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import { countFields } from '../http/request-head.ts'
import { isSameToken, type PanelToken } from './control-token.ts'

const CHALLENGE = ['WWW-Authenticate', 'Bearer realm="clipgate control"']

const AT_COMMAND: Owner = { kind: 'owner', id: OWNER_ID, at: 'command' }
const AT_PANEL: Owner = { ...AT_COMMAND, at: 'panel' }

/** The members of a call that are known before its authentication. */
export type UnknownCall = Pick<Call, 'request' | 'host'>

/**
 * Refuses requests for another host: the name of a hostile page may have been pointed at us (DNS
 * rebinding). Refuses those that a page of another origin sent, too.
 *
 * @throws {HttpError} `FORBIDDEN_ORIGIN`.
 */
export function checkOwnHost({ request, host }: UnknownCall): void {
  const { localAddress = '', localPort } = request.socket
  const address = isIPv6(localAddress) ? `[${localAddress}]` : localAddress
  // Clients leave the port out where it is the usual one.
  const ports = localPort === 80 ? ['', ':80'] : [`:${localPort}`]
  const own = ports.flatMap((port) => [`${address}${port}`, `localhost${port}`])
  const asked = host?.toLowerCase()
  const { origin } = request.headers
  if (asked === undefined || !own.includes(asked)) {
    throw new HttpError('FORBIDDEN_ORIGIN', 'this is not the name of the control listener')
  }
  if (origin !== undefined && origin !== `http://${asked}`) throw new HttpError('FORBIDDEN_ORIGIN')
}

/**
 * Makes the check of the bearer token (RFC 6750), which is that of the commands or of the panel.
 *
 * The function throws {@link HttpError} `FORBIDDEN_ORIGIN` or `UNAUTHORIZED`.
 */
export function createAuthorize(
  controlToken: string,
  panelToken: Pick<PanelToken, 'matches'>,
): (call: UnknownCall) => Owner {
  return (call) => {
    checkOwnHost(call)
    const { rawHeaders, headers } = call.request
    const isSingle = countFields(rawHeaders, 'authorization') === 1
    const given = /^bearer +([\w.~+/=-]+) *$/i.exec(headers.authorization ?? '')?.[1]
    if (isSingle && given !== undefined) {
      if (isSameToken(given, controlToken)) return AT_COMMAND
      if (panelToken.matches(given)) return AT_PANEL
    }
    throw new HttpError('UNAUTHORIZED', { headers: CHALLENGE })
  }
}
