/** Requests of a page to the daemon that it came from, for whoever has it open. @module */

import { ClientError, refusalOf } from '../../client/client-error.ts'

/** Where the protocol is, and who asks. */
export interface Door {
  /** Without a slash at its end. */
  readonly base: string
  /**
   * The value of the `Authorization` header.
   *
   * @throws {ClientError} `UNAUTHORIZED` when there are no credentials any more.
   */
  authorization(): string
}

/**
 * Sends a request, and waits for as long as its signal lets it. No dialog of the browser asks for a
 * password, whatever is answered, and no cookie of another server at this address is sent.
 *
 * @returns Any answer.
 * @throws {ClientError}
 */
export async function send(
  { base, authorization }: Door,
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  const headers = { ...init.headers, Authorization: authorization() }
  const always = { cache: 'no-store', credentials: 'omit', redirect: 'error' } as const
  return fetch(base + path, { ...init, ...always, headers }).catch(unreachable)
}

/** As {@link send}. @returns An answer of success. */
export async function ask(door: Door, path: string, init: RequestInit = {}): Promise<Response> {
  const response = await send(door, path, init)
  if (response.ok) return response
  throw refusalOf(response.status)
}

/** Browsers say nothing of use about why a request failed. */
export function unreachable(): never {
  throw new ClientError('UNREACHABLE')
}
