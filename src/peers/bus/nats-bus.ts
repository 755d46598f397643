/**
 * A broker of NATS core as the bus of a circle. Nothing is stored there, and nothing is
 * acknowledged.
 *
 * A lost connection is replaced here, and not by the client: its own attempts cannot be ended while
 * a broker was never reached, and what is published meanwhile would be kept, without bound.
 * @module
 */

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { isIP } from 'node:net'
import type * as Nats from '@nats-io/transport-node'
import { backOff } from '../../lib/back-off.ts'
import { sleep, type Clock } from '../../lib/clock.ts'
import { DomainError } from '../../core/domain-error.ts'
import { codeOf } from '../../lib/system-error.ts'
import type { BusListener, SignalBus } from '../../ports/bus.ts'

const CONNECT_TIMEOUT_MS = 10_000

/** Time between two pings; a connection is dead after {@link MAX_PINGS} without an answer. */
const PING_MS = 20_000
const MAX_PINGS = 2

/** A connection that lived for this long does not count as a failed attempt. */
const WELL_MS = 60_000

/** Where the brokers are, and how to get in. */
export interface NatsBusOptions {
  /** `nats://` or `tls://`, one or more; tried in turn. */
  readonly servers: readonly string[]
  readonly subject: string
  /** A `.creds` file. Read for each connection, so that it may be replaced. */
  readonly credentialsFile: string | undefined
  /** Certificates that brokers may be signed by, as PEM. */
  readonly caFile: string | undefined
  readonly clock: Clock
}

type NatsClient = Pick<typeof Nats, 'connect' | 'credsAuthenticator'>

/** The package, which only those install who use a bus. @throws {DomainError} `PACKAGE_MISSING`. */
export function loadNats(): NatsClient {
  const require = createRequire(import.meta.url)
  try {
    const client: NatsClient = require('@nats-io/transport-node')
    return client
  } catch (error) {
    if (codeOf(error) !== 'MODULE_NOT_FOUND') throw error
    throw new DomainError(
      'PACKAGE_MISSING',
      'Cannot use --bus: the package "@nats-io/transport-node" is missing; ' +
        'install it where clipgate is installed, with npm install @nats-io/transport-node',
    )
  }
}

/** One broker at a time, connected to again for ever. */
export class NatsBus implements SignalBus {
  readonly #client: NatsClient
  readonly #options: NatsBusOptions
  readonly #ending = new AbortController()
  #connection: Nats.NatsConnection | undefined
  #failures = 0
  #attempts = 0

  constructor(client: NatsClient, options: NatsBusOptions) {
    this.#client = client
    this.#options = options
  }

  /** Reads the files of the options, to find mistakes. @throws {DomainError} `BUS_UNUSABLE`. */
  async check(): Promise<void> {
    await this.#connectionOptions()
  }

  open(listener: BusListener): void {
    void this.#run(listener)
  }

  publish(bytes: Uint8Array): void {
    if (this.#connection?.isClosed() === false)
      this.#connection.publish(this.#options.subject, bytes)
  }

  async close(): Promise<void> {
    this.#ending.abort(new Error('The bus was closed'))
    await this.#connection?.close()
  }

  async #run(listener: BusListener): Promise<void> {
    const { clock } = this.#options
    const { signal } = this.#ending
    while (!signal.aborted) {
      const error = await this.#use(listener).catch((thrown: unknown) => thrown)
      this.#connection = undefined
      if (signal.aborted) return
      listener.onState('waiting', describe(error))
      this.#failures += 1
      // Aborted, it ends the loop.
      await sleep(clock, backOff(this.#failures), signal).catch(() => undefined)
    }
  }

  /** One connection, from its beginning to its end. @returns Why it ended. */
  async #use({ onState, onMessage }: BusListener): Promise<unknown> {
    const { subject, clock } = this.#options
    const connection = await this.#client.connect(await this.#connectionOptions())
    if (this.#ending.signal.aborted) return connection.close()
    this.#connection = connection
    let failure: unknown
    const fail = (error: unknown): void => {
      failure = error
      void connection.close()
    }
    const errors = this.#watchErrors(connection, fail)
    connection.subscribe(subject, {
      callback: (error, { data }) => (error === null ? onMessage(data) : fail(error)),
    })
    // Answered, the broker has the subscription; a connection that ends leaves it without an
    // answer.
    await Promise.race([connection.flush(), connection.closed()])
    const since = clock.monotonic()
    if (!connection.isClosed()) onState('connected', undefined)
    const reason = await connection.closed()
    await errors
    if (clock.monotonic() - since > WELL_MS) this.#failures = 0
    return failure ?? reason ?? new Error('the connection was closed')
  }

  /** Ends the connection when the broker reports an error, which by itself does not end it. */
  async #watchErrors(
    connection: Nats.NatsConnection,
    fail: (error: unknown) => void,
  ): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === 'error') fail(status.error)
    }
  }

  async #connectionOptions(): Promise<Nats.NodeConnectionOptions> {
    const { servers, credentialsFile, caFile } = this.#options
    const server = servers[this.#attempts % servers.length] ?? ''
    this.#attempts += 1
    const { protocol, hostname } = new URL(server)
    const host = hostname.replace(/^\[|\]$/g, '')
    const credentials = await readOption('busCredentials', credentialsFile)
    const ca = await readOption('busCa', caFile)
    // An address is in a certificate as one, and the client would look for a name.
    const identity = isIP(host) === 0 ? {} : { host }
    const tls = { ...identity, ...(ca === undefined ? {} : { ca: ca.toString() }) }
    return {
      servers: server,
      reconnect: false,
      ignoreClusterUpdates: true,
      noEcho: true,
      timeout: CONNECT_TIMEOUT_MS,
      pingInterval: PING_MS,
      maxPingOut: MAX_PINGS,
      ...(protocol === 'tls:' || ca !== undefined ? { tls } : {}),
      ...(credentials && { authenticator: this.#client.credsAuthenticator(credentials) }),
    }
  }
}

async function readOption(name: string, path: string | undefined): Promise<Buffer | undefined> {
  if (path === undefined) return undefined
  try {
    return await readFile(path)
  } catch (error) {
    const reason = `the system says ${codeOf(error) ?? 'nothing'}`
    throw new DomainError('BUS_UNUSABLE', `Cannot read ${name} file ${path}: ${reason}`)
  }
}

/** Node has errors without a message, when each address of a name fails in its own way. */
function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text === '' ? (codeOf(error) ?? 'unknown') : text
}
