/** The trouble with the clipboard, in one sentence for people. @module */

/** The two problems that a clipboard can have at a time, of which people are told the worse one. */
export class ClipboardTrouble {
  readonly #onChange: (worst: string | undefined) => void
  #system: string | undefined
  #loop: string | undefined
  #told: string | undefined

  /** @param onChange Gets the worse problem when that changes; `undefined` when both are over. */
  constructor(onChange: (worst: string | undefined) => void) {
    this.#onChange = onChange
  }

  /** The system cannot be reached, or what it has cannot be read. */
  set system(message: string | undefined) {
    this.#system = message
    this.#tell()
  }

  /** Two programs answer each other without end. */
  set loop(message: string | undefined) {
    this.#loop = message
    this.#tell()
  }

  #tell(): void {
    const worst = this.#system ?? this.#loop
    if (worst === this.#told) return
    this.#told = worst
    this.#onChange(worst)
  }
}
