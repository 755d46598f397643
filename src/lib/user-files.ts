/**
 * Turns at files in places of the user, whose share may hang: each call there holds one of the four
 * threads that all files of a process share. One thread is left for all other files, one turn for
 * those that are saved, and one for folders beside one that hangs.
 * @module
 */

import { dirname } from 'node:path'
import { KeyedQueues, Semaphore } from './semaphore.ts'

/** Looks at a file, when it is its turn. */
export type Look = <T>(look: () => Promise<T>) => Promise<T>

const calls = new Semaphore(3)
const looks = new Semaphore(2)
const saves = new Semaphore(2)
const folders = new KeyedQueues()

/** The turns of the folder of a file. @param signal Ends the wait for one, with its reason. */
export function turnsAt(path: string, signal?: AbortSignal): Look {
  return (look) => {
    const inTurn = () => looks.run(() => calls.run(look, signal), signal)
    return folders.run(dirname(path), inTurn, signal)
  }
}

/** Works in the folder of received files in turn. */
export function saveInTurn<T>(save: () => Promise<T>): Promise<T> {
  return saves.run(() => calls.run(save))
}
