/** Another program on Windows, whose every step is the test's. @module */

import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { codeOf } from '../../../../src/lib/system-error.ts'
import { Mailbox } from '../../../support/mailbox.ts'

export class ForeignProgram {
  readonly #write: (line: string) => void
  readonly #lines = new Mailbox<string>()

  /** Ends with the test. */
  constructor(t: TestContext) {
    const script = fileURLToPath(new URL('./foreign-program.js', import.meta.url))
    const child = start(script)
    t.after(() => child.kill())
    this.#write = (line) => void child.stdin.write(line)
    createInterface({ input: child.stdout }).on('line', (line) => this.#lines.put(line))
  }

  /** Copies, under the names of formats. */
  async copy(formats: Readonly<Record<string, Uint8Array>>): Promise<void> {
    const entries = Object.entries(formats)
    await this.#do({
      copy: Object.fromEntries(
        entries.map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]),
      ),
    })
  }

  async paste(format: string): Promise<Buffer | undefined> {
    const { base64 } = await this.#do({ paste: format })
    return base64 === undefined ? undefined : Buffer.from(base64, 'base64')
  }

  /** Opens the clipboard, and keeps it open. */
  async hold(): Promise<void> {
    await this.#do({ hold: true })
  }

  async release(): Promise<void> {
    await this.#do({ release: true })
  }

  async #do(order: object): Promise<{ readonly base64?: string }> {
    this.#write(`${JSON.stringify(order)}\n`)
    return JSON.parse(await this.#lines.next())
  }
}

/** Wine refuses to start a program once in some thousand times, and starts the next one. */
function start(script: string, refused = 0): ChildProcessByStdio<Writable, Readable, null> {
  try {
    return spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  } catch (error) {
    if (codeOf(error) !== 'UNKNOWN' || refused === 3) throw error
    return start(script, refused + 1)
  }
}
