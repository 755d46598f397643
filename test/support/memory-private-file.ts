/** A private file in memory; whoever has it after a restart has what was kept. @module */

import type { PrivateFile } from '../../src/ports/private-file.ts'

export class MemoryPrivateFile implements PrivateFile {
  text: string | undefined
  /** What every use fails with from now on. */
  failure: Error | undefined

  constructor(text?: string) {
    this.text = text
  }

  async read(): Promise<string | undefined> {
    this.#fail()
    return this.text
  }

  async write(text: string): Promise<void> {
    this.#fail()
    this.text = text
  }

  async remove(): Promise<void> {
    this.#fail()
    this.text = undefined
  }

  #fail(): void {
    if (this.failure !== undefined) throw this.failure
  }
}
