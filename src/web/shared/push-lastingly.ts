/** Makes an item of files that are there: no moment loses what has come of hours. @module */

import { mayPass, type ClientError } from '../../client/client-error.ts'
import { heldBy, Persistence, type Held } from './persistence.ts'
import { failureOf } from './request.ts'

/** Whatever the computer gives up again and again has no room there. */
export const MAX_LOSSES = 4

/**
 * Pushes a document, however long that takes.
 *
 * @param signal Cancels it.
 * @throws {ClientError} When it is cancelled, or cannot become better by itself.
 */
export async function pushLastingly<Pushed>(
  push: (signal: AbortSignal) => Promise<Pushed>,
  signal: AbortSignal,
  onState: (state: 'storing' | Held) => void,
): Promise<Pushed> {
  const persistence = new Persistence(signal)
  let losses = 0
  const attempt = (): Promise<Pushed> => {
    persistence.expectAnything()
    onState('storing')
    return push(persistence.signal)
  }
  const judge = async (error: ClientError): Promise<void> => {
    if (!mayPass(error)) throw error
    if (failureOf(error) === 'unexpected') losses += 1
    if (losses > MAX_LOSSES) throw error
    onState(heldBy(error))
  }
  return persistence.run(attempt, judge, () => {})
}
