/**
 * Knows which files are on their way. A transfer counts its bytes itself, as it has to anyway:
 * nothing is done for each chunk, and nothing at all while nobody asks.
 * @module
 */

import { MIN_TOLD_BYTES } from '../core/limits.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { Blob, OpenBlob } from '../ports/blob.ts'
import type { Transfer, Transfers } from '../ports/transfers.ts'

/** More than a person follows. */
const MAX_TOLD = 32

/** The transfers of a daemon. */
export class RunningTransfers implements Transfers {
  readonly #running = new Set<Transfer>()
  readonly #subscribers = new Subscribers()

  get list(): readonly Transfer[] {
    return [...this.#running].filter(isTold).slice(0, MAX_TOLD)
  }

  begin(transfer: Transfer): () => void {
    this.#running.add(transfer)
    const isLong = (transfer.total ?? Infinity) >= MIN_TOLD_BYTES
    if (isLong) this.#subscribers.notify()
    return () => {
      if (this.#running.delete(transfer) && isLong) this.#subscribers.notify()
    }
  }

  onChange(listener: () => void): () => void {
    return this.#subscribers.add(listener)
  }
}

function isTold({ total, bytes }: Transfer): boolean {
  return (total ?? bytes()) >= MIN_TOLD_BYTES
}

/** The bytes of a blob as one that says, while it is open, how far it was read. */
export function followed(
  blob: Pick<Blob, 'size' | 'open'>,
  transfer: Pick<Transfer, 'deviceId' | 'name'>,
  log: Pick<Transfers, 'begin'>,
): Pick<Blob, 'size' | 'open'> {
  const { size } = blob
  const open = async (): Promise<OpenBlob> => {
    const inner = await blob.open()
    let bytes = 0
    const end = log.begin({ ...transfer, direction: 'out', total: size, bytes: () => bytes })
    return {
      read: async (target, position) => {
        const count = await inner.read(target, position)
        bytes = position + count
        return count
      },
      close: async () => {
        end()
        await inner.close()
      },
    }
  }
  return { size, open }
}
