/**
 * Requests of a page to the daemon that it came from, for whoever has it open; and the kinds of
 * their failures.
 * @module
 */

import { ClientError, refusalOf } from '../../client/client-error.ts'

/** Where the protocol is, and who asks. */
export interface Door {
  /** Without a slash at its end. */
  readonly base: string
  /**
   * The value of the `Authorization` header.
   *
   * @throws {ClientError} `UNAUTHORIZED` when there are no credentials any more; as
   *   {@link assertSame} where another daemon was found.
   */
  authorization(signal?: AbortSignal | null): string | Promise<string>
  /**
   * Makes sure that the daemon there is the one that accepted these credentials before.
   *
   * @throws {ClientError} `UNREACHABLE`, for the reason {@link ELSEWHERE} where it is another one.
   */
  assertSame?(signal?: AbortSignal | null): Promise<void>
}

/** The reason where another daemon answers: the one that is meant is not reached. */
export const ELSEWHERE = 'elsewhere'

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
  const headers = { ...init.headers, Authorization: await authorization(init.signal) }
  return request(base + path, { ...init, headers })
}

/** As {@link send}, in nobody's name. */
export function request(url: string, init: RequestInit): Promise<Response> {
  const always = { cache: 'no-store', credentials: 'omit', redirect: 'error' } as const
  return fetch(url, { ...init, ...always }).catch(unreachable)
}

/** As {@link send}. @returns An answer of success. */
export async function ask(door: Door, path: string, init: RequestInit = {}): Promise<Response> {
  const response = await send(door, path, init)
  const { ok, status, headers } = response
  return ok ? response : refuse(door, status, headers.get('Content-Type'), init.signal)
}

/**
 * Throws the refusal that a status is. Only the daemon that has accepted credentials can say that
 * it does not know them any more, or has lost something: somebody else may have its address by now,
 * and proxies without a way to it answer 404.
 *
 * @throws {ClientError}
 */
export async function refuse(
  { assertSame }: Door,
  status: number,
  type: string | null,
  signal: AbortSignal | null | undefined,
): Promise<never> {
  const isOurs = type === 'application/problem+json'
  if ((status === 401 || status === 404) && !isOurs) unreachable()
  if (status === 401) await assertSame?.(signal)
  throw refusalOf(status)
}

/** An answer of a daemon or of anybody: a check looks at the outline of what it names. */
export type Parsed = ReturnType<typeof JSON.parse>

/**
 * Parses the JSON of an answer.
 *
 * @throws {ClientError} when it comes from somebody else, such as a hotel.
 */
export function parseAnswer(text: string, isOurs: (value: Parsed) => boolean): Parsed {
  try {
    const value = JSON.parse(text)
    if (isOurs(value)) return value
  } catch {
    // It is no JSON, or nothing that has members.
  }
  return unreachable()
}

/**
 * Reads what the daemon says of a document that it has taken.
 *
 * @throws {ClientError} when nobody says that it has.
 */
export async function readPushed(answer: Pick<Body, 'text'>): Promise<Parsed> {
  const isOurs = ({ contentId }: Parsed): boolean => typeof contentId === 'string'
  return parseAnswer(await answer.text().catch(unreachable), isOurs)
}

/** Browsers say nothing of use about why a request failed. */
export function unreachable(): never {
  throw new ClientError('UNREACHABLE')
}

/** The kind of a failure: the name of its words on each page. */
export type Failure =
  | 'away'
  | 'elsewhere'
  | 'refused'
  | 'gone'
  | 'tooLarge'
  | 'busy'
  | 'unreadable'
  | 'full'
  | 'unexpected'

/** By status; `away` is that of whatever stands between. */
const FAILURES: Readonly<Record<number, Failure>> = {
  401: 'refused',
  404: 'gone',
  408: 'away',
  409: 'away',
  410: 'gone',
  413: 'tooLarge',
  425: 'busy',
  429: 'busy',
  500: 'unexpected',
  503: 'busy',
  507: 'full',
}

/** The kind of a failure. */
export function failureOf({ code, status = 0, reason }: ClientError): Failure {
  if (reason === ELSEWHERE) return 'elsewhere'
  if (code === 'UNREACHABLE' || code === 'TIMEOUT') return 'away'
  if (code === 'SOURCE_UNREADABLE') return 'unreadable'
  if (code === 'UNAUTHORIZED') return 'refused'
  // Programs between have numbers of their own from 500 on.
  return FAILURES[status] ?? (status > 500 ? 'away' : 'unexpected')
}
