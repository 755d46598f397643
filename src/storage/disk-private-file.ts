/** A small private file in the data directory. @module */

import { unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder, writeFileAtomically } from '../lib/atomic-file.ts'
import { codeOf } from '../lib/system-error.ts'
import type { PrivateFile } from '../ports/private-file.ts'
import { readOwnFile, toUnusable } from './own-files.ts'

/** A private file in the data directory. */
export class DiskPrivateFile implements PrivateFile {
  readonly #path: string

  /** @param path In a folder that exists and that is ours alone. */
  constructor(path: string) {
    this.#path = path
  }

  async read(): Promise<string | undefined> {
    return readOwnFile(this.#path)
  }

  async write(text: string): Promise<void> {
    try {
      await writeFileAtomically(this.#path, text)
    } catch (error) {
      throw toUnusable(this.#path, error)
    }
  }

  async remove(): Promise<void> {
    try {
      await unlink(this.#path)
      await syncFolder(dirname(this.#path))
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw toUnusable(this.#path, error)
    }
  }
}
