/**
 * The shape of whatever starts programs when a user logs in, and what those have in common: they
 * are given the recipes of `deploy/`, which come with the program, with this Node
 * and this program in the places that the recipes leave open.
 * @module
 */

import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import type { Surroundings } from '../../daemon/folders.ts'
import { packageFolder, pagePath } from '../../daemon/package-files.ts'
import type { Settings } from '../../daemon/settings.ts'
import { hasCode } from '../../lib/system-error.ts'
import { CommandError } from '../command.ts'

/** How the service is. */
export interface ServiceState {
  readonly isInstalled: boolean
  readonly isRunning: boolean
  /** The file that it is described in; `undefined` when there is none. */
  readonly file: string | undefined
  /** Sentences about what is left for people to do, so that it starts by itself and stays. */
  readonly advice: readonly string[]
}

/** Whoever starts the service. All of it happens with the rights of the user, who is logged in. */
export interface ServiceManager {
  /** A command with which people see how the service is. */
  readonly look: string
  /**
   * Also replaces an earlier one, and starts it.
   *
   * @returns Sentences about what else was installed.
   * @throws {CommandError}
   */
  install(settings: Settings): Promise<readonly string[]>
  /** Starts the one that there is. @throws {CommandError} */
  start(): Promise<void>
  /** Stops it; does nothing when there is none. @throws {CommandError} */
  remove(): Promise<void>
  /** @throws {CommandError} when the manager cannot be asked. */
  state(): Promise<ServiceState>
}

/** A Node and the program that it runs. */
export interface Program {
  readonly node: string
  readonly main: string
}

/** Folders of npx, pnpm and yarn, in which a package is kept until they sweep it. */
const KEPT_FOR_A_WHILE = /[\\/](?:_npx|dlx|dlx-[^\\/]*)[\\/]/

/** Characters that end a quoted argument or a line in one of the recipes. */
const UNQUOTABLE = /["\p{Cc}]/u

/**
 * Finds Node and this program, as paths that are the same after an update of either.
 *
 * @throws {CommandError} when they will not stay.
 */
export function findProgram(where: Surroundings): Program {
  const found = { node: findNode(where), main: join(packageFolder(), 'dist', 'cli', 'main.js') }
  if (KEPT_FOR_A_WHILE.test(found.main)) {
    throw new CommandError(
      'Cannot install a service for what npx keeps only for a while; install clipgate first: ' +
        'npm install --global, with the same package',
    )
  }
  for (const path of Object.values(found)) {
    if (!UNQUOTABLE.test(path)) continue
    throw new CommandError(`Cannot install a service for a program in such a folder: ${path}`)
  }
  return found
}

/**
 * Finds the link on the path, where there is one: what it leads to is often called after a version.
 * A link in a folder that is a link itself may be one of a single terminal (fnm).
 */
function findNode({ environment }: Surroundings): string {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter(isAbsolute)
  const found = folders.find((folder) => {
    const path = join(folder, 'node')
    if (!existsSync(path) || realpathSync(path) !== realpathSync(process.execPath)) return false
    return realpathSync(folder) === folder
  })
  return found === undefined ? process.execPath : join(found, 'node')
}

/** Reads a recipe, and fills in what it leaves open. */
export async function fillRecipe(
  path: string,
  blanks: Readonly<Record<string, string>>,
): Promise<string> {
  let text = await readFile(join(packageFolder(), 'deploy', path), 'utf8')
  for (const [blank, value] of Object.entries(blanks)) {
    if (!text.includes(blank)) throw new Error(`deploy/${path} does not have ${blank}`)
    text = text.replaceAll(blank, () => value)
  }
  return text
}

/** Escapes a text for an element or an attribute. */
export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** A manager gives a service that starts or stops 90 s, unless told otherwise. */
const PATIENCE_MS = 120_000

/**
 * Runs a program, and resolves to what it prints.
 *
 * @param patienceMs The time that it may take; then it is killed.
 * @throws {CommandError} with the first line of what the program complained of, or when it takes
 *   too long.
 */
export async function runProgram(
  environment: Surroundings['environment'],
  program: string,
  args: readonly string[],
  patienceMs: number = PATIENCE_MS,
): Promise<string> {
  try {
    const limit = { timeout: patienceMs, killSignal: 'SIGKILL' } as const
    const options = { env: environment, windowsHide: true, ...limit }
    return (await promisify(execFile)(program, [...args], options)).stdout
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) {
      const message = `Cannot reach what starts programs here: there is no ${program}`
      const page = pagePath('docs/guides/install.md')
      throw new CommandError(`${message}; ${page} has recipes for other systems`, { cause })
    }
    if (cause instanceof Error && 'killed' in cause && cause.killed === true) {
      const seconds = Math.ceil(patienceMs / 1000)
      const problem = `${program} has not ended within ${seconds} s; try again`
      throw new CommandError(`Cannot manage the service: ${problem}`, { cause })
    }
    const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : ''
    const reason = said.split('\n')[0] || 'nothing'
    throw new CommandError(`Cannot manage the service: ${program} says: ${reason}`, { cause })
  }
}

/** Whether a program ended well. @throws {CommandError} when there is no such program. */
export async function succeeds(running: Promise<string>): Promise<boolean> {
  try {
    await running
    return true
  } catch (error) {
    if (error instanceof CommandError && hasCode(error.cause, 'ENOENT')) throw error
    return false
  }
}
