/**
 * A member of a group: a daemon in a process of its own, and a device on it that sees what a member
 * sees.
 * @module
 */

import type { TestContext } from 'node:test'
import { connect, type Client } from '../../../src/client/connect.ts'
import { openClient, type DaemonClient } from '../../../src/peers/open-client.ts'
import {
  startDaemonProcess,
  type DaemonOptions,
  type DaemonProcess,
} from '../../support/daemon-process.ts'
import { createPhone, type Phone } from '../../support/phone.ts'
import { joinDaemon, type JoinOptions } from './daemons.ts'
import { ItemLog } from './item-log.ts'

/** Its own client, and others that may join it: a real hash is most of what a link takes. */
const PEERS: readonly string[] = ['Peer', 'Peer', 'Peer', 'Peer']

export class MemberProcess {
  readonly #t: TestContext
  readonly #options: DaemonOptions
  readonly name: string
  /** The client of a device of the kind `peer`: it is shown stamps. It sends none, so that it is a device. */
  readonly client: Pick<Client, 'pushText' | 'pushFile'> & DaemonClient
  readonly phone: Phone
  /** The URL of its gateway, which stays over restarts. */
  readonly gateway: string
  #daemon: DaemonProcess
  #log: ItemLog

  private constructor(
    t: TestContext,
    name: string,
    own: Pick<MemberProcess, 'client' | 'phone'> & {
      readonly options: DaemonOptions
      readonly daemon: DaemonProcess
      readonly log: ItemLog
    },
  ) {
    this.#t = t
    this.name = name
    this.#options = own.options
    this.#daemon = own.daemon
    this.#log = own.log
    this.client = own.client
    this.phone = own.phone
    this.gateway = own.daemon.ready.gateway
  }

  /** Starts a daemon without a desktop, unless the options have arguments of their own. */
  static async start(
    t: TestContext,
    name: string,
    given: DaemonOptions = {},
  ): Promise<MemberProcess> {
    const options = { args: ['--headless'], ...given }
    const daemon = await startDaemonProcess(t, { devices: PEERS, ...options })
    const device = await daemon.pair('Peer')
    const { gateway } = daemon.ready
    const { username, password } = device
    const daemonClient = openClient({ url: gateway, username, password })
    t.after(() => daemonClient.close())
    const client = { ...connect({ url: gateway, username, password }), ...daemonClient }
    const phone = createPhone(device, gateway)
    const log = await ItemLog.open(t, gateway, phone.authorization)
    return new MemberProcess(t, name, { options, daemon, log, client, phone })
  }

  /** The process that runs now. */
  get daemon(): DaemonProcess {
    return this.#daemon
  }

  /** What became current since it was started. */
  get log(): ItemLog {
    return this.#log
  }

  /** The stamp of its current item. */
  async stamp(): Promise<unknown> {
    return (await this.client.latest()).stamp
  }

  /** @returns The id of the device there. */
  join(other: MemberProcess, options: JoinOptions = {}): Promise<string> {
    return joinDaemon(this, other, options)
  }

  kill(): Promise<void> {
    return this.#daemon.kill()
  }

  async stop(): Promise<void> {
    await this.#daemon.stop()
  }

  /** Starts it again where it was. */
  async start(): Promise<void> {
    const { host } = new URL(this.gateway)
    const { folder } = this.#daemon
    const env = { ...this.#options.env, CLIPGATE_LISTEN: host }
    this.#daemon = await startDaemonProcess(this.#t, { ...this.#options, env, folder })
    this.#log = await ItemLog.open(this.#t, this.gateway, this.phone.authorization)
  }
}
