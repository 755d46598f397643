/** A shell that keeps what a command prints. @module */

import { Readable, Writable } from 'node:stream'
import { runCli } from '../../src/cli/run-cli.ts'
import type { Screen, Shell } from '../../src/cli/shell.ts'

export interface TestShellOptions {
  readonly stdin?: string | Uint8Array | Readable
  readonly environment?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly platform?: NodeJS.Platform
  readonly home?: string
  /** Its width makes stdout a terminal. */
  readonly columns?: number
  readonly rows?: number
  /** The descriptor of a file to which stdout seems to go. */
  readonly fd?: number
  /** The code with which every write to stdout fails. */
  readonly unprintable?: string
}

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** Lines on stderr. */
  readonly errors: readonly string[]
}

/** A shell, and what was printed to it so far. */
export function openTestShell({
  stdin = '',
  environment = {},
  cwd = '/',
  platform = 'linux',
  home = '/nonexistent',
  columns,
  rows,
  fd,
  unprintable,
}: TestShellOptions = {}) {
  const [stdout, stderr] = [new Sink({ columns, rows, fd }, unprintable), new Sink({})]
  // As the program does: a failure that nobody listens to would end this process.
  stdout.on('error', () => undefined)
  const shell: Shell = {
    stdin: stdin instanceof Readable ? stdin : Readable.from([Buffer.from(stdin)]),
    stdout,
    stderr,
    where: { platform, home, environment },
    cwd,
  }
  return { shell, outputs: () => ({ stdout: stdout.text, stderr: stderr.text }) }
}

/** Runs one command in this process. */
export async function runCommand(
  args: readonly string[],
  options: TestShellOptions = {},
): Promise<Outcome> {
  const { shell, outputs } = openTestShell(options)
  const code = await runCli(args, shell)
  const { stdout, stderr } = outputs()
  return { code, stdout, stderr, errors: stderr.split('\n').slice(0, -1) }
}

interface Size {
  readonly columns?: number | undefined
  readonly rows?: number | undefined
  readonly fd?: number | undefined
}

class Sink extends Writable implements Screen {
  text = ''
  readonly isTTY: boolean
  readonly columns?: number
  readonly rows?: number
  readonly fd?: number
  readonly #failure: string | undefined

  constructor({ columns, rows, fd }: Size, failure?: string) {
    super({ decodeStrings: false })
    this.isTTY = columns !== undefined
    if (columns !== undefined) this.columns = columns
    if (rows !== undefined) this.rows = rows
    if (fd !== undefined) this.fd = fd
    this.#failure = failure
  }

  override _write(chunk: string | Buffer, _encoding: string, done: (error?: Error) => void): void {
    if (this.#failure !== undefined) {
      done(Object.assign(new Error('Cannot write'), { code: this.#failure }))
      return
    }
    this.text += String(chunk)
    done()
  }
}
