/**
 * A foreign program on Windows, which copies and pastes as it is told: `foreign/clip.c`.
 * @module
 */

import assert from 'node:assert/strict'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { WindowsMachine, WindowsProgram } from './wine.ts'
import { execute } from '../../support/execute.ts'

const SOURCE = fileURLToPath(new URL('../foreign/clip.c', import.meta.url))

/** Debian's, for 64 bits. */
export const COMPILER = 'x86_64-w64-mingw32-gcc'

/** What a program pastes. */
export interface Shown {
  readonly sequence: number
  readonly formats: readonly string[]
  /** What is not there is missing. */
  readonly text?: string
  /** The header, and the first and the last pixel. */
  readonly dib?: string
  readonly dibv5?: string
  readonly png?: Buffer
  /** As Windows has their paths. */
  readonly files?: readonly string[]
  /** The `Preferred DropEffect`. */
  readonly effect?: number
}

export class ForeignProgram {
  readonly #machine: WindowsMachine
  readonly #exe: string
  #shows = 0

  /** Compiles it for the tests of a file. */
  static async build(machine: WindowsMachine): Promise<ForeignProgram> {
    const exe = join(machine.drive, 'test', 'clip.exe')
    const options = ['-Wall', '-Wextra', '-Werror', '-O1', '-s', '-static', '-o', exe]
    await execute(COMPILER, [SOURCE, ...options])
    return new ForeignProgram(machine, exe)
  }

  private constructor(machine: WindowsMachine, exe: string) {
    this.#machine = machine
    this.#exe = exe
  }

  /** Does something that ends by itself. @returns What it said. */
  async run(...words: readonly string[]): Promise<string> {
    const program = this.#machine.run(this.#exe, ...words)
    const code = await program.ended()
    const said = await program.stdout()
    assert.equal(code, 0, `${words.join(' ')}: ${said}${await program.stderr()}`)
    return said
  }

  /** Does something until the test ends; resolves when it says so. */
  async start(t: TestContext, says: RegExp, ...words: readonly string[]): Promise<WindowsProgram> {
    const program = this.#machine.run(this.#exe, ...words)
    t.after(async () => {
      program.child.kill('SIGKILL')
      await program.ended()
    })
    await program.says(says)
    return program
  }

  /** Pastes all there is. */
  async show(): Promise<Shown> {
    this.#shows += 1
    const path = join(this.#machine.drive, 'test', `${this.#shows}.png`)
    const said = await this.run('show', this.#machine.toWindows(path))
    const all = (word: string) =>
      [...said.matchAll(new RegExp(`^${word} (.*)$`, 'gm'))].map(([, rest = '']) =>
        decodeLineEnds(rest),
      )
    const [text, dib, dibv5, png, effect] = ['text', 'dib', 'dibv5', 'png', 'effect'].map(
      (word) => all(word)[0],
    )
    const files = all('file')
    const shown = {
      sequence: Number(all('sequence')[0]),
      formats: all('format'),
      ...(text !== undefined && { text }),
      ...(dib !== undefined && { dib }),
      ...(dibv5 !== undefined && { dibv5 }),
      ...(png !== undefined && { png: await readFile(path) }),
      ...(files.length > 0 && { files }),
      ...(effect !== undefined && { effect: Number(effect) }),
    }
    await rm(path, { force: true })
    return shown
  }

  /** Pastes after each change until it is what is wanted. */
  async showUntil(isWanted: (shown: Shown) => boolean): Promise<Shown> {
    for (;;) {
      const shown = await this.show()
      if (isWanted(shown)) return shown
      await this.run('wait', String(shown.sequence))
    }
  }
}

/** A text is one line of what it says. */
function decodeLineEnds(text: string): string {
  return text.replace(/\\([rn\\])/g, (_, letter) => ({ r: '\r', n: '\n' })[String(letter)] ?? '\\')
}
