/** The gateway on a disk of its own, behind a real socket. @module */

import { createServer } from 'node:http'
import type { TestContext } from 'node:test'
import { createGateway } from '../../src/gateway/create-gateway.ts'
import { OWNER_ID } from '../../src/core/owner.ts'
import type { Computer, GatewayOptions } from '../../src/gateway/gateway-ports.ts'
import { serveUpgrades } from '../../src/http/upgrade.ts'
import { ChangeHub } from '../../src/inbound/change-hub.ts'
import { ClipboardPipeline } from '../../src/inbound/clipboard-pipeline.ts'
import { RememberedItems } from '../../src/inbound/remembered-items.ts'
import type { Member } from '../../src/inbound/stamp-order.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { CircleTime } from '../../src/ports/circle-time.ts'
import type { StagingArea } from '../../src/ports/staging-area.ts'
import { openTestStorage, type OpenTestStorageOptions } from '../storage/support/open-stores.ts'
import { CaptureLogger } from './capture-logger.ts'
import { FakeClock } from './fake-clock.ts'
import { FakeVerifier } from './fake-verifier.ts'
import { listen } from './listen.ts'
import { createPhone } from './phone.ts'
import { openTestDevices } from './test-devices.ts'

export interface ServeGatewayOptions
  extends Partial<GatewayOptions>,
    Pick<OpenTestStorageOptions, 'limits' | 'folder' | 'clock'> {
  /** Replaces members of the staging area. */
  readonly staging?: Partial<StagingArea>
  /** Replaces members of the machine that its phone page shows. */
  readonly computer?: Partial<Computer>
  /** Makes it a member of a group. */
  readonly member?: Member
  readonly circleTime?: CircleTime
  /** The time of the ports, instead of the fake clock that is returned. */
  readonly realTime?: Clock
}

/** Serves the gateway on a free port until the test ends, with one phone paired. */
export async function serveGateway(t: TestContext, options: ServeGatewayOptions = {}) {
  const fakeClock = options.clock ?? new FakeClock()
  const clock = options.realTime ?? fakeClock
  const logger = new CaptureLogger()
  const { maxFileBytes } = options
  const limits = { ...(maxFileBytes !== undefined && { maxFileBytes }), ...options.limits }
  const storage = await openTestStorage(t, { ...options, clock: fakeClock, limits })
  const { blobs, latest, staging: area } = storage
  const staging: StagingArea = {
    admit: (...of) => area.admit(...of),
    receive: (...of) => area.receive(...of),
    begin: (...of) => area.begin(...of),
    find: (...of) => area.find(...of),
    staged: (...of) => area.staged(...of),
    bind: (...of) => area.bind(...of),
    take: (...of) => area.take(...of),
    takeBatch: (...of) => area.takeBatch(...of),
    drop: (...of) => area.drop(...of),
    ...options.staging,
  }
  const changes = new ChangeHub(logger)
  const maxTextBytes = options.maxMetadataBytes
  const { member, circleTime } = options
  const devices = await openTestDevices(() => clock.now())
  const inbound = new ClipboardPipeline({
    staging,
    latest,
    changes,
    clock,
    logger,
    maxTextBytes,
    member,
    devices,
  })
  const verifier = new FakeVerifier(devices)
  const owner = { kind: 'device', deviceId: OWNER_ID } as const
  const recent = new RememberedItems({ inbound, blobs, devices, logger, most: 20, owner })
  inbound.addEffect((stored) => recent.add(stored))
  const watchers: (() => void)[] = []
  let isPaused = false
  const computer: Computer = {
    name: 'desk',
    recent,
    showsRecent: true,
    isPaused: () => isPaused,
    onChange: (listener) => {
      watchers.push(listener)
      return () => undefined
    },
    ...options.computer,
  }

  const ports = {
    ...{ devices, verifier, latest, staging, inbound, changes, clock, logger, circleTime },
    computer,
  }
  const gateway = createGateway(ports, { version: '1.2.3', ...options })
  const server = createServer(gateway).on('checkContinue', gateway)
  serveUpgrades(server, gateway)
  const port = await listen(t, server)

  const { device, password } = await devices.add({ kind: 'phone', label: 'Phone' })
  const url = `http://127.0.0.1:${port}`
  return {
    /** Says that something of the computer has changed. */
    changeComputer: (change: { readonly isPaused: boolean }) => {
      isPaused = change.isPaused
      for (const tell of watchers) tell()
    },
    ...ports,
    clock: fakeClock,
    server,
    gateway,
    blobs,
    storage,
    /** How many uploads wait for their document. */
    countWaiting: () => area.stats().uploads,
    /** How many files of bytes there are. */
    countBlobs: async () => (await storage.blobFiles()).length,
    url,
    port,
    device,
    password,
    authorization: `Basic ${Buffer.from(`${device.username}:${password}`).toString('base64')}`,
    phone: createPhone({ username: device.username, password }, url),
    /** Another device of the same person. */
    addPhone: async () => {
      const added = await devices.add({ kind: 'phone' })
      return createPhone({ username: added.device.username, password: added.password }, url)
    },
  }
}
