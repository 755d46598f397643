/**
 * A system's clipboard, as files in a folder: test and helper use it at the same time, and it
 * outlives the helper, as the real one does.
 *
 * JavaScript, so that the programs that stand in for a helper start fast on every Node.
 * @module
 */

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @typedef {{
 *   readonly change: number,
 *   readonly types: Readonly<Record<string, string>>,
 *   readonly denied: readonly string[],
 *   readonly access: number,
 *   readonly isHeld: boolean,
 * }} State Names of files by type; `access`: the `NSPasteboardAccessBehavior`;
 *   `isHeld`: a program has it open.
 */

export class ClipboardFile {
  /** @param {string} folder Is there; stays when we are done. */
  constructor(folder) {
    this.folder = folder
  }

  /** @returns {State} */
  get state() {
    const text = readOr(join(this.folder, 'state.json'), '')
    if (text === '') return { change: 100, types: {}, denied: [], access: 0, isHeld: false }
    return JSON.parse(text)
  }

  /** @param {string} type */
  bytesOf(type) {
    const name = this.state.types[type]
    return name === undefined ? undefined : readFileSync(join(this.folder, name))
  }

  /**
   * Replaces what is there.
   *
   * @param {Readonly<Record<string, Uint8Array | string>>} contents By type.
   * @param {{ readonly denied?: readonly string[], readonly access?: number }} [more]
   * @returns {number} The number of the change.
   */
  put(contents, { denied = [], access = 0 } = {}) {
    const { change: last, isHeld } = this.state
    const change = last + 1
    /** @type {Record<string, string>} */
    const types = {}
    for (const [index, [type, content]] of Object.entries(contents).entries()) {
      const name = `${change}-${index}`
      writeFileSync(join(this.folder, name), content)
      types[type] = name
    }
    this.#replace({ change, types, denied, access, isHeld })
    return change
  }

  /**
   * Adds a format to what is there, as its owner may; counts as a change on Windows.
   *
   * @param {string} type
   * @param {Uint8Array | string} content
   * @param {{ readonly isChange: boolean }} options
   */
  add(type, content, { isChange }) {
    const { state } = this
    const change = state.change + (isChange ? 1 : 0)
    const name = `${change}-${type.replaceAll('/', '-')}`
    writeFileSync(join(this.folder, name), content)
    this.#replace({ ...state, change, types: { ...state.types, [type]: name } })
  }

  /** A program opens it, or closes it. @param {boolean} isHeld */
  hold(isHeld) {
    this.#replace({ ...this.state, isHeld })
  }

  /** The process that is the helper. */
  get pid() {
    return Number(readOr(join(this.folder, 'pid'), '0'))
  }

  /** A helper says who it is. */
  sign() {
    writeFileSync(join(this.folder, 'pid'), String(process.pid))
  }

  /** @param {State} state */
  #replace(state) {
    const path = join(this.folder, `state-${process.pid}.json`)
    writeFileSync(path, JSON.stringify(state))
    // Readers see the old state or the new one.
    renameSync(path, join(this.folder, 'state.json'))
  }
}

/** @param {string} path @param {string} otherwise */
function readOr(path, otherwise) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return otherwise
    throw error
  }
}
