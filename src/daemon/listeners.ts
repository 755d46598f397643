/** The sockets of a daemon: those of the gateway, and that of the control. @module */

import type { RequestListener } from 'node:http'
import type { SecureContext } from 'node:tls'
import { createAddressTest } from '../http/client-address.ts'
import { startServer, type RunningServer } from '../http/server.ts'
import { systemClock, type Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/describe-failure.ts'
import { Subscribers } from '../lib/subscribers.ts'
import { hasCode, isAddressMissing } from '../lib/system-error.ts'
import type { ListenerStatus } from '../ports/admin.ts'
import type { Logger } from '../ports/logger.ts'
import { createLocalTest, readInterfaces } from './addresses.ts'
import { formatBaseUrl, isWildcardHost, type HostPort } from './host-port.ts'
import type { Settings } from './settings.ts'

type ListenSettings = Pick<
  Settings,
  'allowPublic' | 'maxConnections' | 'maxConnectionsPerAddress' | 'trustedProxies'
>

/** Connections of the owner's own commands; a person has few. */
const MAX_CONTROL_CONNECTIONS = 64

type Name = ListenerStatus['name']

/** In the order in which they start, and stop. */
const NAMES = ['gateway', 'tls', 'control'] as const

interface ListenersOptions {
  /** The clock of the machine unless given. */
  readonly clock?: Clock
  /** Called when a socket of that name is lost, and when all of them are back. */
  readonly onTrouble?: (name: Name, isTrouble: boolean) => void
}

/** The open sockets of a daemon. */
export class Listeners {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #onTrouble: (name: Name, isTrouble: boolean) => void
  readonly #servers: Readonly<Record<Name, RunningServer[]>> = { gateway: [], tls: [], control: [] }
  readonly #watchers = new Subscribers()
  /** Whether {@link stop} has begun: requests are to be refused. */
  isDraining = false

  constructor(
    logger: Logger,
    { clock = systemClock, onTrouble = () => {} }: ListenersOptions = {},
  ) {
    this.#logger = logger
    this.#clock = clock
    this.#onTrouble = onTrouble
  }

  /**
   * Binds the gateway to every address of `wanted`; ports that are 0 become one and the same. Its
   * listeners, with TLS and without, share one set of limits.
   *
   * @param tls What the next handshake uses; without it, plain HTTP is spoken.
   * @returns Where it is really bound.
   * @throws {Error} naming the address that cannot be bound.
   */
  async startGateway(
    listener: RequestListener,
    wanted: readonly HostPort[],
    settings: ListenSettings,
    tls?: () => SecureContext,
  ): Promise<readonly HostPort[]> {
    const { allowPublic, maxConnections, maxConnectionsPerAddress, trustedProxies } = settings
    const isTrusted = createAddressTest(trustedProxies)
    const isLocal = createLocalTest(readInterfaces, this.#clock)
    const isSecure = tls !== undefined
    const bound: HostPort[] = []
    for (const { host, port } of wanted) {
      const samePort = port === 0 ? (bound[0]?.port ?? 0) : port
      const isOptional = bound.length > 0 && isWildcardHost(host)
      const server = await this.#start(isSecure ? 'tls' : 'gateway', isOptional, {
        listener,
        host,
        port: samePort,
        tls,
        sharesWith: this.#servers.gateway[0],
        admit: (address) => allowPublic || isTrusted(address) || isLocal(address),
        maxConnections,
        maxConnectionsPerAddress,
        isExempt: isTrusted,
      })
      if (server !== undefined) bound.push({ host, port: server.port, isSecure })
    }
    return bound
  }

  /** Binds the control listener. @returns Its base URL. */
  async startControl(listener: RequestListener, { host, port }: HostPort): Promise<string> {
    const server = await this.#start('control', false, {
      listener,
      host,
      port,
      maxConnections: MAX_CONTROL_CONNECTIONS,
      maxConnectionsPerAddress: MAX_CONTROL_CONNECTIONS,
    })
    return formatBaseUrl({ host, port: server?.port ?? port })
  }

  status(): readonly ListenerStatus[] {
    return NAMES.filter((name) => this.#servers[name].length > 0).map((name) => {
      const servers = this.#servers[name]
      const error = servers.find(({ trouble }) => trouble !== undefined)?.trouble
      return { name, urls: servers.map(formatBaseUrl), error }
    })
  }

  /** Calls `listener` when {@link status} may tell something else. @returns Ends that. */
  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  /**
   * Refuses new requests at once, and ends the rest within `graceMs`.
   *
   * @returns How many connections of the gateway were cut while they were owed an answer.
   */
  async stop(graceMs: number): Promise<number> {
    this.isDraining = true
    const { gateway, tls, control } = this.#servers
    const counts = await Promise.all([...gateway, ...tls].map((server) => server.stop(graceMs)))
    // The owner can still ask and revoke while the gateway lets uploads finish.
    await Promise.all(control.map((server) => server.stop(graceMs)))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /** @param isOptional Where the machine lacks the address family, the others will do. */
  async #start(
    name: Name,
    isOptional: boolean,
    options: Omit<Parameters<typeof startServer>[0], 'onTrouble'>,
  ): Promise<RunningServer | undefined> {
    try {
      const server = await startServer({
        ...options,
        clock: this.#clock,
        onTrouble: (reason) => {
          this.#watchers.notify()
          if (reason === undefined) this.#logger.info('A listener recovered', { name })
          else this.#logger.warn('A listener has a problem', { name, reason })
          const isTrouble = this.#servers[name].some(({ trouble }) => trouble !== undefined)
          this.#onTrouble(name, isTrouble)
        },
      })
      this.#servers[name].push(server)
      return server
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined
      if (!isOptional || !isAddressMissing(cause)) throw withRemedy(name, error, cause)
      this.#logger.debug('Not listening', { name, host: options.host })
      return undefined
    }
  }
}

/** The error with what the owner can do: it goes up to whoever has started the daemon. */
function withRemedy(name: Name, error: unknown, cause: unknown): Error {
  const option = { gateway: '--listen', tls: '--tls-listen', control: '--control' }[name]
  const remedy = hasCode(cause, 'EADDRINUSE')
    ? `end that program, or choose another port with ${option}`
    : `choose another address with ${option}`
  return new Error(`${messageOf(error)}; ${remedy}`, { cause })
}
