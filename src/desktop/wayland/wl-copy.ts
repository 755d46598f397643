/**
 * One run of wl-copy, which offers one thing until somebody copies something else.
 *
 * wl-copy keeps what it offers in a file of its own, in a private folder. It removes that when it
 * has all of it (before 2.3 only when it is replaced), and not when it is killed. So it is made to
 * end by clearing the clipboard. While it takes its input it must be killed, and its folder is
 * removed here. With a compositor that hangs neither is possible, and an older one leaves its file.
 *
 * It is not ended when this program is killed: what was pushed can still be pasted then. So it gets
 * a whole file, and no pipe, whose end it would take for that of the content.
 * @module
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import {
  type FileHandle,
  open,
  readdir,
  readFile,
  readlink,
  rm,
  statfs,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { KIB } from '../../core/limits.ts'
import { PRIVATE_FILE_MODE } from '../../lib/atomic-file.ts'
import { blocksOf } from '../../lib/read-bytes.ts'
import { FULL_DISK_CODES, hasCode } from '../../lib/system-error.ts'
import { withoutTrailing } from '../../lib/without-trailing.ts'
import { messageOf } from '../../lib/describe-failure.ts'
import type { Clock } from '../../lib/clock.ts'
import type { OfferedContent } from '../../ports/system-clipboard.ts'
import { describeStart } from '../clipboard-errors.ts'
import { type OfferedBytes, offeredFormats, type OfferedFormat } from '../offered-formats.ts'
import { killGroup, runTool } from './run-tool.ts'

interface WlCopyOptions {
  readonly content: OfferedContent
  readonly env: NodeJS.ProcessEnv
  readonly clock: Clock
}

const BLOCK_BYTES: number = 256 * KIB

/** Time from the last byte until others can paste. */
const CONFIRM_MS = 10_000

/** Time to end when the clipboard was cleared. */
const END_MS = 3000

/** Before the id of the process that started it, in its environment. */
const STARTER = 'CLIPGATE_PID='

/** The name that a file of ours has for a moment. */
const OUR_NAME = /^clipgate-[0-9a-f]{32}$/

/** Where wl-copy makes its file, whatever the environment says. */
const ITS_FOLDER = '/tmp'

/** How a wl-copy complains that cannot, or the `cat` that fills it. */
const NO_FILE = /^(mkdtemp|creat|cat): /m

/** How making our own file fails. */
const NO_FILE_CODES: readonly string[] = [...FULL_DISK_CODES, 'EACCES', 'EROFS', 'ENOENT']

/** Why a write fails: temporary files cannot be made, for which people can do something. */
export const NO_ROOM =
  'Cannot put anything on the clipboard: "/tmp" is full, or may not be written by this user'

/** Why a write fails: the clipboard is let go. */
export const CLOSED = 'The clipboard was closed'

/** Why a write fails: somebody copied, and that is newer. */
export const OVERTAKEN = 'Another program copied at the same moment'

/** Offers content with `wl-copy`. */
export class WlCopy {
  readonly #options: WlCopyOptions
  /** `undefined` until there is all that it is to offer. */
  #child: ChildProcess | undefined
  /** The format in which it offers it. */
  readonly type: string
  /** Resolves when {@link confirm} is called; rejects when wl-copy ends before. */
  readonly confirmed: Promise<void>
  #settle: (failure?: Error) => void = () => undefined
  #cancelTimeout: () => void = () => undefined
  #isConfirmed = false
  #aborting: Promise<void> | undefined
  #complaint = ''
  #isUnreadable = false
  /** Resolves when it is gone. */
  readonly ended: Promise<void>
  #end: () => void = () => undefined

  /** Gets what it offers, and starts it. */
  constructor(options: WlCopyOptions) {
    this.#options = options
    const format = writableFormat(options.content)
    const { type } = format
    this.type = type
    this.confirmed = new Promise((resolve, reject) => {
      this.#settle = (failure) => (failure === undefined ? resolve() : reject(failure))
    })
    // Who never waits for it has lost nothing.
    this.confirmed.catch(() => undefined)
    this.ended = new Promise((resolve) => (this.#end = resolve))
    void this.#start(format)
  }

  /** It has everything, and offers it from now on. */
  get isSent(): boolean {
    return this.#child !== undefined
  }

  /** It ended, but not because somebody else copied, or what it offers could not be read. */
  get isLost(): boolean {
    if (this.#isUnreadable) return false
    return this.#complaint !== '' || (this.#child?.signalCode ?? null) !== null
  }

  /** To be told when others were seen to be able to paste it. */
  confirm(): void {
    this.#isConfirmed = true
    this.#cancelTimeout()
    this.#settle()
  }

  /** Kills it, and removes what it leaves. */
  abort(reason: string): Promise<void> {
    this.#aborting ??= this.#abort(reason)
    return this.#aborting
  }

  /** Lets go of the clipboard. */
  async release(): Promise<void> {
    const { env, clock } = this.#options
    if (this.#isGone) return
    if (!this.isSent) return await this.abort(CLOSED)
    const late = new AbortController()
    late.signal.addEventListener('abort', () => void this.abort(CLOSED))
    const cancel = clock.after(END_MS, () => late.abort())
    // Fails when the compositor is away: then wl-copy ends by itself, and must be let to tidy up.
    await clearClipboard(env, clock, late.signal).catch(() => undefined)
    await this.ended
    await this.#aborting
    cancel()
  }

  async #abort(reason: string): Promise<void> {
    const child = this.#child
    if (child === undefined) this.#end()
    const pid = this.#isGone ? undefined : child?.pid
    const folder = pid === undefined ? undefined : await findFolder(pid)
    if (!this.#isGone) killGroup(pid)
    await this.ended
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
    this.#settle(new Error(reason))
  }

  get #isGone(): boolean {
    return (this.#child?.exitCode ?? null) !== null || (this.#child?.signalCode ?? null) !== null
  }

  async #start(format: OfferedFormat): Promise<void> {
    try {
      const file = await fileOf(await format.bytes())
      if (this.#aborting === undefined) this.#spawn(file)
      await file.close()
    } catch (error) {
      this.#isUnreadable = true
      await this.abort(hasCode(error, ...NO_FILE_CODES) ? NO_ROOM : messageOf(error))
    }
  }

  #spawn(file: FileHandle): void {
    const { clock } = this.#options
    const env = { ...this.#options.env, CLIPGATE_PID: String(process.pid) }
    const args = ['--foreground', '--type', this.type]
    const stdio = [file.fd, 'ignore', 'pipe'] as const
    const child = spawn('wl-copy', args, { env, stdio: [...stdio], detached: true })
    this.#child = child
    child.stderr?.on('data', (text) => (this.#complaint ||= String(text)))
    child.on('error', (error) => this.#settle(new Error(describeStart('wl-copy', error))))
    child.on('close', () => {
      this.#cancelTimeout()
      // Whoever aborts it knows better why it ended.
      if (this.#aborting === undefined) {
        const failure = NO_FILE.test(this.#complaint) ? NO_ROOM : 'wl-copy failed'
        this.#settle(new Error(this.isLost ? failure : OVERTAKEN))
      }
      this.#end()
    })
    if (this.#isConfirmed) return
    this.#cancelTimeout = clock.after(CONFIRM_MS, () => {
      void this.abort('wl-copy does not become ready')
    })
  }
}

/** A file of these bytes, which has no name any more. */
async function fileOf(bytes: OfferedBytes): Promise<FileHandle> {
  const path = join(tmpdir(), `clipgate-${randomBytes(16).toString('hex')}`)
  const written = await open(path, 'wx', PRIVATE_FILE_MODE)
  const file = await open(path).finally(() => rm(path))
  try {
    await writeFile(written, blocksOf(bytes, { blockSize: BLOCK_BYTES }))
    const { size } = await file.stat()
    if (size < bytes.size) throw new Error('Cannot offer the item: bytes are missing')
    const { blocks, bavail, bsize } = await statfs(ITS_FOLDER)
    // It would leave there what it can write. A file system without a bound has no blocks.
    if (blocks > 0 && bavail * bsize < size) throw new Error(NO_ROOM)
    return file
  } catch (error) {
    await file.close()
    throw error
  } finally {
    await written.close()
  }
}

/** Removes the files that still had their names when their program was killed. */
export async function sweepFiles(): Promise<void> {
  const folder = tmpdir()
  const names = (await readdir(folder)).filter((name) => OUR_NAME.test(name))
  await Promise.all(names.map((name) => rm(join(folder, name), { force: true })))
}

/**
 * Whether one is there whose program was killed: it offers until somebody copies, so nobody has
 * copied what is on the clipboard.
 *
 * @param env As it was given one.
 */
export function isLeftOver({ XDG_RUNTIME_DIR, WAYLAND_DISPLAY }: NodeJS.ProcessEnv): boolean {
  const place = [`XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR}`, `WAYLAND_DISPLAY=${WAYLAND_DISPLAY}`]
  return readable(() => readdirSync('/proc'), []).some((id) => {
    const textOf = (name: string) => readable(() => readFileSync(`/proc/${id}/${name}`, 'utf8'), '')
    const [, parent] = /^Name:\t.*wl-copy.*\n[^]*^PPid:\t(\d+)$/m.exec(textOf('status')) ?? []
    if (parent === undefined) return false
    const environment = textOf('environ').split('\0')
    const starter = environment.find((variable) => variable.startsWith(STARTER))
    const isHere = place.every((variable) => environment.includes(variable))
    return isHere && starter !== undefined && starter !== STARTER + parent
  })
}

function readable<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    // It has ended, or is somebody else's, or this system has no such files.
    return otherwise
  }
}

/** Empties the clipboard, whoever owns it. @throws {Error} When wl-copy cannot. */
export async function clearClipboard(
  env: NodeJS.ProcessEnv,
  clock: Clock,
  signal?: AbortSignal,
): Promise<void> {
  const { isSuccess } = await runTool('wl-copy', ['--clear'], { env, clock, signal, maxBytes: 0 })
  if (!isSuccess) throw new Error('Cannot clear the clipboard')
}

/**
 * The one format that suits most programs: wl-copy offers one, and the usual names of plain text
 * beside it when it is a kind of text. Files are `text/uri-list`, which all programs paste:
 * `x-special/gnome-copied-files` is known to the file managers of GNOME and its like only, and
 * those read the list as well.
 */
function writableFormat(content: OfferedContent): OfferedFormat {
  const format = offeredFormats(content).find(({ target }) => target === typeOf(content))
  if (format === undefined) throw new Error(`Cannot offer content of the kind "${content.kind}"`)
  return format
}

function typeOf(content: OfferedContent): string {
  if (content.kind === 'image') return content.mediaType
  return content.kind === 'text' ? 'text/plain;charset=utf-8' : 'text/uri-list'
}

/** Whether there is nothing to paste; such a text cannot be told from an empty clipboard. */
export function isEmpty(content: OfferedContent): boolean {
  return content.kind === 'text' && withoutTrailing(content.text, '\0') === ''
}

/** The folder of a wl-copy that is still taking its input: a `cat` writes the file. */
async function findFolder(pid: number): Promise<string | undefined> {
  try {
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
    for (const child of children.split(' ').filter((id) => id !== '')) {
      const path = await readlink(`/proc/${child}/fd/1`)
      if (/\/wl-copy-buffer-[^/]+\/stdin$/.test(path)) return dirname(path)
    }
  } catch {
    // It has ended, or has begun no file.
  }
  return undefined
}
