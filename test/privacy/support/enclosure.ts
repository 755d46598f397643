/**
 * Surroundings in which programs of ours run, and in which everything that they tell anybody is
 * searched for secrets: what they print, their arguments and environments while they run, and all
 * files, with their names and modes. What may be where is said explicitly.
 * @module
 */

import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as tick } from 'node:timers/promises'
import type { TestContext } from 'node:test'
import { isolatedEnvironment, type ReadyEvent } from '../../support/daemon-process.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { searchFolder, type Place } from './places.ts'
import { readTree, type ProcessView } from './processes.ts'
import { Search } from './secrets.ts'

export interface EnclosureOptions {
  /** The program. */
  readonly main: string
  /** Where files may hold secrets. */
  readonly places: readonly Place[]
  /** The beginning of a command that runs others. */
  readonly wrapper?: readonly string[]
}

/** Secrets that may be seen, by where. */
export interface Shown {
  readonly stdout?: readonly string[]
  readonly stderr?: readonly string[]
  readonly argv?: readonly string[]
}

export interface RunOptions {
  readonly stdin?: string
  readonly env?: NodeJS.ProcessEnv
  readonly shows?: Shown
}

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** What everybody may do with new files, as far as the shell is concerned. */
const OPEN_TO_ALL: readonly string[] = ['sh', '-c', 'umask 000; exec "$@"', 'sh']

export class Enclosure {
  /** Whatever programs of ours write is in here. */
  readonly folder: string
  /** For what the test gives to them: not searched. */
  readonly given: string
  readonly search: Search = new Search()
  /** What was found where it should not be; one line each. */
  readonly leaks: string[] = []
  /** How many programs. */
  started = 0
  readonly #options: EnclosureOptions
  readonly #running = new Set<RunningProgram>()
  readonly #t: TestContext

  static async open(t: TestContext, options: EnclosureOptions): Promise<Enclosure> {
    const [folder, given] = [await temporaryFolder(t), await temporaryFolder(t)]
    for (const name of ['work', 'tmp', 'home']) await mkdir(join(folder, name), { mode: 0o700 })
    return new Enclosure(t, options, folder, given)
  }

  private constructor(t: TestContext, options: EnclosureOptions, folder: string, given: string) {
    this.#t = t
    this.folder = folder
    this.given = given
    this.#options = options
  }

  get dataDir(): string {
    return join(this.folder, 'data')
  }

  /** Starts the program. */
  async start(
    args: readonly string[],
    { env, stdin, shows = {} }: RunOptions = {},
  ): Promise<RunningProgram> {
    const { main, wrapper = [] } = this.#options
    const [program = '', ...rest] = [...OPEN_TO_ALL, ...wrapper, process.execPath, main, ...args]
    const child = spawn(program, rest, {
      cwd: join(this.folder, 'work'),
      env: isolatedEnvironment(this.folder, {
        HOME: join(this.folder, 'home'),
        TMPDIR: join(this.folder, 'tmp'),
        CLIPGATE_LISTEN: '127.0.0.1:0',
        CLIPGATE_CONTROL: '127.0.0.1:0',
        ...env,
      }),
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#t.after(() => child.kill('SIGKILL'))
    this.started += 1
    const running = new RunningProgram(child, args[0] ?? '', shows)
    this.#running.add(running)
    // Before it gets its secrets: a program that is done cannot be looked at any more.
    const view = await running.untilRuns(main)
    if (view !== undefined) this.#judgeProcess(view, running)
    child.stdin?.on('error', () => undefined)
    if (stdin !== undefined) child.stdin?.write(stdin)
    child.stdin?.end()
    return running
  }

  /** Runs the program to its end. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    return this.end(await this.start(args, options))
  }

  /** Starts a daemon that tells all that it has to tell, and waits until it is ready. */
  async serve(args: readonly string[] = ['--headless'], env: NodeJS.ProcessEnv = {}) {
    const all = ['serve', '--json', '--log-level', 'debug', ...args]
    // The log tells whose credentials begin and end, by the labels that the owner has given.
    const daemon = await this.start(all, { env, shows: { stderr: ['label'] } })
    const ready: ReadyEvent = JSON.parse((await daemon.printed(/^.*\n/))[0])
    await this.learnControlToken()
    return { daemon, ready }
  }

  /** Stops a daemon, which is to end in good order. */
  async stop(daemon: RunningProgram): Promise<Ended> {
    daemon.child.kill('SIGTERM')
    const ended = await this.end(daemon)
    assert.equal(ended.code, 0, ended.stderr)
    return ended
  }

  /** Looks once more. Fails when anything was found where it should not be. */
  async assertTight(): Promise<void> {
    await this.look('at the end')
    assert.deepEqual(this.leaks, [])
  }

  /** Waits for the end of a program, and judges what it printed. */
  async end(running: RunningProgram): Promise<Ended> {
    await running.closed
    this.#running.delete(running)
    const { name, shows } = running
    this.judge(`stdout of ${name}`, running.stdout, shows.stdout)
    this.judge(`stderr of ${name}`, running.stderr, shows.stderr)
    const [stdout, stderr] = [String(running.stdout), String(running.stderr)]
    return { code: running.child.exitCode, stdout, stderr }
  }

  /** Looks at all files, and at everything that runs. */
  async look(when: string): Promise<void> {
    const judge = (what: string, bytes: Uint8Array, allowed?: readonly string[]) =>
      this.judge(`${when}, ${what}`, bytes, allowed)
    const report = (what: string) => void this.leaks.push(`${when}, ${what}`)
    await searchFolder(this.folder, this.#options.places, judge, report)
    for (const running of this.#running) {
      for (const view of await readTree(running.child.pid)) this.#judgeProcess(view, running)
    }
  }

  /** Searches some bytes. */
  judge(where: string, bytes: Uint8Array, allowed: readonly string[] = []): void {
    for (const { secret, as, near } of this.search.find(bytes)) {
      if (!allowed.includes(secret)) {
        this.leaks.push(`${where}: ${secret} (${as}) in ${JSON.stringify(near)}`)
      }
    }
  }

  /** The token of the control listener, which nobody else may hold from now on. */
  async learnControlToken(): Promise<string> {
    const token = (await readFile(join(this.dataDir, 'control.token'), 'utf8')).trim()
    this.search.learn('control token', token)
    return token
  }

  #judgeProcess({ argv, environ }: ProcessView, { name, shows }: RunningProgram): void {
    this.judge(`arguments of ${name}`, argv, shows.argv)
    this.judge(`environment of ${name}`, environ)
  }
}

export class RunningProgram {
  readonly child: ChildProcess
  readonly name: string
  readonly shows: Shown
  readonly closed: Promise<unknown>
  /** What it has printed so far. */
  stdout: Buffer = Buffer.alloc(0)
  stderr: Buffer = Buffer.alloc(0)
  #wake: () => void = () => {}

  constructor(child: ChildProcess, name: string, shows: Shown) {
    this.child = child
    this.name = name
    this.shows = shows
    this.closed = once(child, 'close').finally(() => this.#wake())
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.on('data', (chunk: Buffer) => {
        this[name] = Buffer.concat([this[name], chunk])
        this.#wake()
      })
    }
  }

  /** Resolves when it has printed something that fits. */
  async printed(pattern: RegExp, stream: 'stdout' | 'stderr' = 'stdout'): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(String(this[stream]))
      if (match !== null) return match
      const { exitCode, signalCode } = this.child
      if (exitCode !== null || signalCode !== null) {
        throw new Error(`${this.name} ended before it printed that: ${this.stderr}`)
      }
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /**
   * What everybody on the machine can see of it, once the shell has made way for it. `undefined`
   * when it has ended before anybody could look, as a command may that waits for no input.
   */
  async untilRuns(main: string): Promise<ProcessView | undefined> {
    for (;;) {
      const views = await readTree(this.child.pid)
      const view = views.find(({ argv }) => argv.includes(main) && !argv.includes('umask'))
      if (view !== undefined) return view
      if (this.child.exitCode !== null) return undefined
      await tick()
    }
  }
}
