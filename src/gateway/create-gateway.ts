/** The mobile protocol: a function from ports to a `node:http` listener. @module */

import type { RequestListener } from 'node:http'
import { CIRCLE_TIME_HEADER, formatCircleTime, parseCircleTime } from '../core/circle-time.ts'
import type { Call, Handler, Route } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import { createListener } from '../http/listener.ts'
import type { Reply } from '../http/reply.ts'
import { isProgramGone, PROGRAM_GONE } from '../lib/program-files.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import type { CircleTime } from '../ports/circle-time.ts'
import type { Device } from '../ports/device-registry.ts'
import { createAuthenticate, unauthorized } from './authenticate.ts'
import { toHttpError } from './domain-errors.ts'
import { DeviceStreams } from './device-streams.ts'
import type { GatewayOptions, GatewayPorts } from './gateway-ports.ts'
import { fileReply, NO_PHONE_PAGE, phonePageRoutes, trustRoutes } from './phone-page.ts'
import { phoneStateRoutes, recentOf } from './phone-state.ts'
import { deviceRoutes, publicRoutes } from './routes.ts'
import { Tickets } from './tickets.ts'

/** Where the phone page asks for tickets, and below which they are. */
const TICKETS = '/phone/tickets'

/** The paths that members of a circle ask each other for. */
const MEMBER_PATHS: readonly string[] = ['/Sync.json', '/file/{dataName}', '/api/sse/clipboard']

/** The listener of the gateway, and a hold on the event streams that it has opened. */
export interface Gateway extends RequestListener {
  /** Open event streams of a device. */
  countStreams(deviceId: string): number
  /** Calls `listener` when event streams were opened or have ended. @returns Ends that. */
  onStreams(listener: () => void): () => void
  /** Ends all event streams. To be called when the gateway goes: it never sends an event again. */
  closeStreams(): void
}

/**
 * Makes the gateway.
 *
 * @returns A listener for `request` *and* `checkContinue` events: without the latter, Node tells
 *   clients to go on before anybody has checked who they are.
 */
export function createGateway(ports: GatewayPorts, options: GatewayOptions): Gateway {
  const isDraining = (): boolean => options.isDraining?.() === true || ports.isClosed?.() === true
  const { trustedProxies = [], publicUrl, heartbeatMs, phonePage = true } = options
  const streams = new DeviceStreams({ ...ports, heartbeatMs })
  const { devices, circleTime } = ports
  const routes = deviceRoutes(ports, streams, options).map((route) =>
    circleTime === undefined ? route : tellCircleTime(route, circleTime),
  )
  const tickets = new Tickets(ports, {
    at: TICKETS,
    find: (id) => {
      const device = devices.find(id)
      return device?.passwordHash === undefined ? undefined : device
    },
    recentOf: (device) => recentOf(ports, device),
  })
  const authenticate = createAuthenticate(ports)
  let isToldGone = false
  const prepare = async (): Promise<void> => {
    if (isDraining()) throw new HttpError('DRAINING')
  }
  const listener = createListener<Device>({
    publicRoutes: [
      ...publicRoutes(),
      ...(phonePage ? phonePageRoutes() : [NO_PHONE_PAGE]),
      ...trustRoutes(options),
    ].map((route) => ({ ...route, prepare })),
    routes: phonePage ? [...routes, ...tickets.routes, ...phoneStateRoutes(ports)] : routes,
    authenticate: (call) => {
      const mayHaveTicket = phonePage && call.path.startsWith(TICKETS)
      return (mayHaveTicket && tickets.holderOf(call)) || authenticate(call)
    },
    recheck: ({ id: deviceId, passwordHash }) => {
      if (!devices.isValid({ deviceId, passwordHash })) throw unauthorized()
    },
    nameOf: ({ id }) => id,
    isDraining,
    trustedProxies,
    publicUrl,
    clock: ports.clock,
    toHttpError: (thrown, { method, client }) => {
      const error = toHttpError(thrown)
      const { code } = error
      if (code === 'OVERLOADED' && !isToldGone && isProgramGone()) {
        isToldGone = true
        ports.logger.warn(PROGRAM_GONE)
      }
      // Those of nobody are logins, which have a line of their own.
      if (client !== '')
        ports.logger.debug('A request was refused', { device: client, method, code })
      return error
    },
    replyTo: ({ code, status }, { method, path, request }) => {
      if (code !== 'UNAUTHORIZED' || path !== '/') return undefined
      const page = options.welcome?.(method, request.headers)
      return page && fileReply(page, status)
    },
    onFailure: ({ cause }, id) => {
      ports.logger.error('A request failed', { id, ...describeFailure(cause) })
    },
  })
  // Registered behind the event streams, which end theirs properly.
  devices.onCredentialGone((deviceId) => listener.cut(deviceId))
  return Object.assign(listener, {
    countStreams: (deviceId: string) => streams.count(deviceId),
    onStreams: (listener: () => void) => streams.onCount(listener),
    closeStreams: () => streams.close(),
  })
}

/**
 * A route as it is; where members of a circle use it, they tell each other in it what time it is.
 * To all other devices nothing of this exists.
 */
function tellCircleTime(route: Route<Device>, time: CircleTime): Route<Device> {
  if (!MEMBER_PATHS.includes(route.pattern)) return route
  // The parameters are those of the same route.
  const handler = route.handler as Handler<Device>
  const stamp = (reply: Reply): Reply => ({
    ...reply,
    headers: [...(reply.headers ?? []), CIRCLE_TIME_HEADER, formatCircleTime(time.now())],
  })
  return {
    ...route,
    handler: (call: Call<Device>) => {
      if (call.principal.kind !== 'peer') return handler(call)
      const at = parseCircleTime(call.request.headers[CIRCLE_TIME_HEADER.toLowerCase()])
      if (at !== undefined) time.learn(at)
      const reply = handler(call)
      return reply instanceof Promise ? reply.then(stamp) : stamp(reply)
    },
  }
}
