/** A bus in memory, whose connections, losses and repetitions belong to the test. @module */

import type { BusListener, SignalBus } from '../../../../src/ports/bus.ts'

export class FakeBroker {
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

export class FakeBus implements SignalBus {
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
