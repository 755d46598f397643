/** Files that are chosen together, and become one item. @module */

import { mayPass, type ClientError } from '../../client/client-error.ts'
import { failureOf } from '../shared/failure.ts'
import { heldBy, Persistence, type Held } from '../shared/persistence.ts'
import { pushDocument } from './api.ts'
import type { Pushed } from './strings.ts'

/** Whatever the computer gives up again and again has no room there. */
export const MAX_LOSSES = 4

/** A new name of a batch. The page may have no secure context, and so no `randomUUID`. */
export function newBatch() {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Makes one item of files of a batch that are there.
 *
 * @param signal Cancels it.
 * @throws {ClientError} `gone` when the computer has lost one of them.
 */
export async function pushBatch(
  document: object,
  signal: AbortSignal,
  onState: (state: 'storing' | Held) => void,
): Promise<Pushed> {
  const persistence = new Persistence(signal)
  let losses = 0
  const attempt = () => {
    persistence.expectAnything()
    onState('storing')
    return pushDocument(document, persistence.signal)
  }
  const judge = async (error: ClientError) => {
    if (!mayPass(error)) throw error
    if (failureOf(error) === 'unexpected') losses += 1
    if (losses > MAX_LOSSES) throw error
    onState(heldBy(error))
  }
  return persistence.run(attempt, judge, () => {})
}
