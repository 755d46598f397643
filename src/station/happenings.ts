/** Keeps in memory what happened lately, out of what the log is told. @module */

import type { Happening } from '../core/happening.ts'
import type { Clock } from '../lib/clock.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { Logger } from '../ports/logger.ts'
import type { Happened, HappeningsList } from '../ports/panel.ts'

/** A day or a week of a person: half of it for items, which cannot push out all else. */
const MOST = 200

/** As long as a label, which is the longest of what devices say here; so 200 of them are small. */
const MAX_LENGTH = 64

/** The list of what happened since the start of the daemon. */
export class Happenings implements HappeningsList {
  readonly #clock: Clock
  readonly #labelOf: (deviceId: string) => string | undefined
  readonly #watchers = new Subscribers()
  #list: readonly Happened[] = []

  /** @param labelOf Asked for the label of a device when something happens. */
  constructor(clock: Clock, labelOf: (deviceId: string) => string | undefined) {
    this.#clock = clock
    this.#labelOf = labelOf
  }

  get list(): readonly Happened[] {
    return this.#list
  }

  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  /** The same log, of which what happens is kept, whatever its level. */
  hear(logger: Logger): Logger {
    return {
      debug: (message, fields) => logger.debug(message, fields),
      info: (message, fields) => logger.info(message, fields),
      warn: (message, fields) => logger.warn(message, fields),
      error: (message, fields) => logger.error(message, fields),
      happened: (happening) => {
        this.#add(happening)
        return logger.happened?.(happening)
      },
    }
  }

  #add({ device, label, address, ...rest }: Happening): void {
    const id = (this.#list[0]?.id ?? 0) + 1
    const at = new Date(this.#clock.now()).toISOString()
    const name = label ?? (device === undefined ? undefined : this.#labelOf(device))
    const strings = { label: name?.slice(0, MAX_LENGTH), address: address?.slice(0, MAX_LENGTH) }
    const list: readonly Happened[] = [{ id, at, ...rest, device, ...strings }, ...this.#list]
    this.#list = list.length > MOST ? withoutOne(list) : list
    this.#watchers.notify()
  }
}

/** Leaves out the oldest item, or the oldest of all else, whichever there are more of. */
function withoutOne(list: readonly Happened[]): readonly Happened[] {
  const items = list.filter(isItem)
  const others = list.filter((happened) => !isItem(happened))
  const oldest = items.length > others.length ? items.at(-1) : others.at(-1)
  return list.filter((happened) => happened !== oldest)
}

function isItem({ type }: Happened): boolean {
  return type !== undefined
}
