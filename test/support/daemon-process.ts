/** A real daemon in a process of its own, started like a user starts it. @module */

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { formatConnectLink } from '../../src/link/connect-link.ts'
import { pairBeforehand } from './many-devices.ts'
import { NEW_PHONE, ownerOf } from './owner.ts'
import { createPhone, type Phone } from './phone.ts'
import { PROGRAM } from './program.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { execute } from './execute.ts'

/** Lines that come in every life of a daemon, and whenever a test logs in with a wrong password. */
const USUAL =
  /^\S+ (?:warn {2}Logins were refused: |info {2}(?:Started|Stopped|A device (?:was|logged in from)) ).*\n/gm

/** What a daemon wrote to stderr, without the lines that come in every life of one. */
export function withoutUsual(stderr: string): string {
  return stderr.replace(USUAL, '')
}

/** What `serve --json` prints first. */
export interface ReadyEvent {
  readonly event: 'ready'
  readonly gateway: string
  readonly control: string
  readonly mode: 'desktop' | 'headless'
  readonly clipboard: string
  readonly pid: number
}

/** What `pair --json` prints, too. */
export interface PairedDevice {
  readonly id: string
  readonly username: string
  readonly password: string
  readonly url: string
  readonly link: string
}

export interface DaemonProcess {
  readonly child: ChildProcess
  readonly ready: ReadyEvent
  readonly folder: string
  /**
   * What it wrote to stderr so far, without the trail of its life and its devices, and without the
   * logins that a test had refused.
   */
  stderr(): string
  /** Everything that it wrote to stderr so far. */
  log(): string
  /** Runs another command against this daemon's data directory. */
  run(...args: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }>
  /**
   * As `clipgate pair` does, without a process of its own; or one of those that were paired early.
   *
   * @param label `Peer` for another daemon.
   * @param url Of the link; that of the gateway unless it is given.
   */
  pair(label: string, url?: string): Promise<PairedDevice>
  /** A phone, which {@link pair} pairs. */
  phone(label?: string): Promise<Phone>
  /** SIGTERM, and its exit code. */
  stop(): Promise<number | null>
  /** SIGKILL, as a crash ends it; resolves when it has ended. */
  kill(): Promise<void>
}

export interface DaemonOptions {
  readonly args?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  /**
   * Labels of devices that are paired before it is started, but behind a `wrapper`: two hashes of
   * each are a second of processor time, most of what a test of one daemon takes.
   */
  readonly devices?: readonly string[]
  /** Holds the data directory and what else it writes; made, and removed, unless it is given. */
  readonly folder?: string
  /** A program that was built for the test; `PROGRAM` unless it is given. */
  readonly main?: string
  /** `main` brings its own Node. */
  readonly isWhole?: boolean
  /** The folder that it is started in. */
  readonly cwd?: string | undefined
  /** The beginning of a command that runs others: `['ip', 'netns', 'exec', 'name']`. */
  readonly wrapper?: readonly string[]
}

/** How a daemon is started, and any other command beside it. */
export interface DaemonCommand {
  readonly env: NodeJS.ProcessEnv
  spawn(): ChildProcess
  run(...args: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }>
}

/** Surroundings in which nothing of this machine's user is read or written. */
export function isolatedEnvironment(
  folder: string,
  env: NodeJS.ProcessEnv = {},
): NodeJS.ProcessEnv {
  const { PATH, NODE_V8_COVERAGE } = process.env
  return {
    PATH,
    // Coverage follows into the processes that tests start.
    ...(NODE_V8_COVERAGE === undefined ? {} : { NODE_V8_COVERAGE }),
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_STATE_HOME: join(folder, 'state'),
    CLIPGATE_DATA_DIR: join(folder, 'data'),
    CLIPGATE_RECEIVED_DIR: join(folder, 'received'),
    ...env,
  }
}

/** Puts the command together, and starts nothing yet. */
export function daemonCommand(folder: string, options: DaemonOptions = {}): DaemonCommand {
  const { args = [], main, isWhole = false, cwd, wrapper = [] } = options
  const env = isolatedEnvironment(folder, options.env)
  const node = main === undefined ? PROGRAM : [main]
  const [program = '', ...own] = [...wrapper, ...(isWhole ? [] : [process.execPath]), ...node]
  // Free ports, unless the options say otherwise.
  const ports = { CLIPGATE_LISTEN: '127.0.0.1:0', CLIPGATE_CONTROL: '127.0.0.1:0' }
  return {
    env,
    spawn: () =>
      spawn(program, [...own, 'serve', '--json', ...args], {
        cwd,
        env: { ...ports, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    run: (...command) => execute(program, [...own, ...command], { cwd, env }),
  }
}

/** Starts a daemon on free ports and waits until it is ready. It is killed when the test ends. */
export async function startDaemonProcess(
  t: TestContext,
  options: DaemonOptions = {},
): Promise<DaemonProcess> {
  const folder = options.folder ?? (await temporaryFolder(t))
  // Behind another command it may be another user's, or have another address.
  const labels = options.wrapper === undefined ? (options.devices ?? []) : []
  const early = labels.length > 0 ? [...(await pairBeforehand(join(folder, 'data'), labels))] : []
  const command = daemonCommand(folder, options)
  const child = command.spawn()
  t.after(() => child.kill('SIGKILL'))
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))

  const ready = await firstLine(child, () => stderr)
  const { run } = command
  const daemon: DaemonProcess = {
    child,
    ready,
    folder,
    stderr: () => withoutUsual(stderr),
    log: () => stderr,
    run,
    pair: async (label, to) => {
      const found = early.findIndex((device) => device.label === label)
      const [device] = found < 0 ? [] : early.splice(found, 1)
      if (device !== undefined) {
        const { id, username, password } = device
        const o = { did: id, label, proto: 'syncclipboard' }
        const url = to ?? ready.gateway
        return {
          ...device,
          url,
          link: formatConnectLink({ url, user: username, pwd: password, o }),
        }
      }
      // In a network of its own it can only be asked from there, and after its end only commands help.
      const isReached = options.wrapper === undefined && !hasEnded(child)
      if (!isReached) return JSON.parse((await run('pair', '--json', '--label', label)).stdout)
      const kind = label === 'Peer' ? 'peer' : 'phone'
      return (await ownerOf({ ready, folder })).pair({ ...NEW_PHONE, kind, label, url: to })
    },
    phone: async (label = 'Phone') => createPhone(await daemon.pair(label), ready.gateway),
    stop: async () => {
      child.kill('SIGTERM')
      if (!hasEnded(child)) await once(child, 'close')
      return child.exitCode
    },
    kill: async () => {
      child.kill('SIGKILL')
      if (!hasEnded(child)) await once(child, 'close')
    },
  }
  return daemon
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

async function firstLine(child: ChildProcess, stderr: () => string): Promise<ReadyEvent> {
  if (child.stdout === null) throw new Error('The daemon has no stdout')
  for await (const line of createInterface({ input: child.stdout })) {
    // Whatever else it prints must not fill the pipe.
    child.stdout.resume()
    return JSON.parse(line)
  }
  throw new Error(`The daemon ended before it was ready: ${stderr()}`)
}
