/**
 * The token that opens the panel, for as long as this daemon runs.
 *
 * It is not the token of the commands: a browser may keep its address in a history and synchronise
 * that, and the owner can end all panels without taking the commands' token away. It is kept in
 * memory only, so that whatever an open page sends while the daemon is away opens nothing later.
 *
 * @module
 */

import { isSameToken, mintToken } from './control-token.ts'

/** More than a page can guess while it waits. */
const QUERY_LENGTH = 12

export class PanelToken {
  #text = mintToken()

  /**
   * The address that opens the panel. No server is ever sent the part behind the `#`. The query is
   * another one each time, so that a tab loads the page anew wherever it is: a page that somebody
   * else had served on our port would see a change of the fragment alone.
   */
  addressAt(host: string): string {
    return `http://${host}/?${mintToken().slice(0, QUERY_LENGTH)}#${this.#text}`
  }

  matches(given: string): boolean {
    return isSameToken(given, this.#text)
  }

  /** Takes another token; pages that have the earlier one are signed out. */
  renew(): void {
    this.#text = mintToken()
  }
}
