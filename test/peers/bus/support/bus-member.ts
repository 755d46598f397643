/**
 * Members of a group on a bus in memory: what they have has a place, and pulling takes it over.
 * @module
 */

import { setImmediate } from 'node:timers/promises'
import type { Item } from '../../../../src/core/item.ts'
import { stampAfter, stampOf, type Stamp } from '../../../../src/core/stamp.ts'
import { placeOf } from '../../../../src/hashing/place-of.ts'
import { ChangeHub } from '../../../../src/inbound/change-hub.ts'
import { deriveSecrets, type CircleSecrets } from '../../../../src/peers/bus/circle-key.ts'
import { CircleMember, type CircleMemberDeps } from '../../../../src/peers/bus/circle-member.ts'
import { Membership } from '../../../../src/peers/bus/membership.ts'
import { Sealer } from '../../../../src/peers/bus/sealer.ts'
import { CircleClock } from '../../../../src/inbound/circle-clock.ts'
import type { StoredItem } from '../../../../src/ports/latest-item.ts'
import { CaptureLogger } from '../../../support/capture-logger.ts'
import type { FakeClock } from '../../../support/fake-clock.ts'
import { sha256 } from '../../../support/hashes.ts'
import { MemoryPrivateFile } from '../../../support/memory-private-file.ts'
import type { BusListener, SignalBus } from '../../../../src/ports/bus.ts'

class FakeBroker {
  /** Everything that was published, also by those who are cut off now. */
  readonly published: Uint8Array[] = []
  readonly #ends = new Set<FakeBus>()
  /** Whether what is published comes to nobody, without anybody noticing. */
  isLossy = false

  connect(): FakeBus {
    const end = new FakeBus(this)
    this.#ends.add(end)
    return end
  }

  publish(from: FakeBus | undefined, bytes: Uint8Array): void {
    this.published.push(bytes)
    if (this.isLossy) return
    for (const end of this.#ends) if (end !== from) end.deliver(bytes)
  }
}

class FakeBus implements SignalBus {
  readonly #broker: FakeBroker
  #listener: BusListener | undefined
  #isConnected = false
  isClosed = false

  constructor(broker: FakeBroker) {
    this.#broker = broker
  }

  open(listener: BusListener): void {
    this.#listener = listener
    this.reconnect()
  }

  publish(bytes: Uint8Array): void {
    if (this.#isConnected) this.#broker.publish(this, bytes)
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.#isConnected = false
  }

  deliver(bytes: Uint8Array): void {
    if (this.#isConnected) this.#listener?.onMessage(bytes)
  }

  cut(): void {
    this.#isConnected = false
    this.#listener?.onState('waiting', 'cut by the test')
  }

  reconnect(): void {
    this.#isConnected = true
    this.#listener?.onState('connected', undefined)
  }
}

export class TestCircle {
  readonly broker = new FakeBroker()
  readonly clock: FakeClock
  readonly secrets: CircleSecrets
  /** By URL. */
  readonly members = new Map<string, BusMember>()

  constructor(clock: FakeClock, key: Uint8Array = Buffer.alloc(32, 1)) {
    this.clock = clock
    this.secrets = deriveSecrets(key)
  }

  /** Starts a member; with the file of an earlier one it is that one again. */
  async start(
    name: string,
    { file = new MemoryPrivateFile(), ...more }: StartOptions = {},
  ): Promise<BusMember> {
    const membership = await Membership.open(file, this.secrets.id, 0)
    const clock = {
      now: () => this.clock.now() + (more.aheadMs ?? 0),
      monotonic: () => this.clock.monotonic(),
    }
    const logger = new CaptureLogger()
    const time = await CircleClock.open({ file: new MemoryPrivateFile(), clock, logger })
    const member = new BusMember(this, name, file, { membership, time }, more)
    this.members.set(member.url, member)
    member.group.start()
    return member
  }
}

export interface StartOptions {
  readonly file?: MemoryPrivateFile
  readonly pull?: CircleMemberDeps['pull']
  readonly sealer?: CircleMemberDeps['sealer']
  /** By how much its clock is ahead. */
  readonly aheadMs?: number
  /** What chance decides; 0 unless said. */
  readonly random?: () => number
}

interface Kept {
  readonly membership: Membership
  readonly time: CircleClock
}

export class BusMember {
  readonly url: string
  readonly file: MemoryPrivateFile
  readonly bus
  readonly group: CircleMember
  readonly logger = new CaptureLogger()
  /** What was pulled, and from where. */
  readonly pulls: string[] = []
  readonly #changes = new ChangeHub(this.logger)
  readonly #membership: Membership
  readonly time: CircleClock
  current: StoredItem | undefined

  constructor(
    group: TestCircle,
    name: string,
    file: MemoryPrivateFile,
    { membership, time }: Kept,
    more: StartOptions,
  ) {
    this.time = time
    this.url = `http://${name}.example`
    this.file = file
    this.#membership = membership
    this.bus = group.broker.connect()
    const { clock } = group
    this.group = new CircleMember({
      bus: this.bus,
      brokers: ['nats://fake'],
      secrets: group.secrets,
      sealer: more.sealer ?? new Sealer(group.secrets),
      membership,
      latest: this,
      circleTime: this.time,
      changes: this.#changes,
      clock,
      random: more.random ?? (() => 0),
      logger: this.logger,
      url: () => this.url,
      pull:
        more.pull ??
        (async (offer, { onPlace }) => {
          const url = offer.next()
          const item = group.members.get(url ?? '')?.current?.item
          if (url === undefined || item?.stamp === undefined) throw new Error('nobody has it')
          this.pulls.push(`${item.text} from ${url}`)
          onPlace(placeOf(item, item.contentHash, this.time.believes))
          this.#take(item)
        }),
    })
  }

  get text(): string | undefined {
    return this.current?.item.text
  }

  /** Somebody copies a text here. */
  copy(text: string): void {
    const { member } = this.#membership.state
    const known = this.current && stampOf(this.current.item, this.time.believes)
    this.put(text, stampAfter(known, this.time.now(), member))
  }

  put(text: string, stamp: Stamp, file: Partial<Item> = {}): void {
    const contentHash = sha256(text)
    this.#take({
      type: 'Text',
      text,
      dataName: '',
      mediaType: 'text/plain',
      size: text.length,
      contentId: `blake3v1:${contentHash}`,
      contentHash,
      nameHash: '',
      aliases: [],
      activatedAt: stamp.at,
      stamp,
      ...file,
    })
  }

  #take(item: Item): void {
    this.current = { item, blob: undefined }
    const { contentId, activatedAt } = item
    this.#changes.publish({ contentId, activatedAt })
  }
}

/** Everything is in memory: once no promise is left to run, nothing is under way. */
export const settle = (): Promise<void> => setImmediate()
