/**
 * The private file that leads a browser to the panel.
 *
 * The browser is given the file and not the address itself: other users of the machine can read the
 * arguments of programs, and the address opens the panel. The file is as private as the token of
 * the commands beside it, and what it holds ends with the daemon; it is removed anyway, once
 * the browser has had the time to read it. For a browser in a sandbox it is in a private folder of
 * that, and a link in its place.
 * @module
 */

import { readlink, symlink, unlink } from 'node:fs/promises'
import { basename, isAbsolute, join } from 'node:path'
import { renameOver, replaceFile, temporaryPath } from '../lib/atomic-file.ts'
import type { Clock } from '../lib/clock.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import { statsOf } from '../lib/find-untrusted.ts'
import { findSandbox } from '../lib/open-path.ts'
import { hasCode } from '../lib/system-error.ts'
import type { Logger } from '../ports/logger.ts'
import type { Surroundings } from './folders.ts'

const NAME = 'open-panel.html'

/** The time that a slow machine takes to start a browser. */
const KEPT_MS = 60_000

/** Writes the file in the place of an earlier one. @returns Its path. */
export async function writeOpeningFile(
  dataDir: string,
  url: string,
  where: Surroundings,
): Promise<string> {
  const known = join(dataDir, NAME)
  const sandbox = await findSandbox('text/html', where)
  const path = sandbox === undefined ? known : join(sandbox, `clipgate-${NAME}`)
  if ((await statsOf(known))?.isDirectory() === true) {
    throw new Error(`Cannot open the panel: ${known} is a folder; move it away`)
  }
  const earlier = await targetOf(known)
  if (earlier !== undefined && earlier !== path) await unlinkIfThere(earlier)
  // Before the file: the daemon finds by the link what it has to remove.
  if (path !== known) await replaceLink(known, path)
  await replaceFile(path, pageTo(url))
  return path
}

/** Removes the file in time. */
export class OpeningFile {
  readonly #dataDir: string
  readonly #clock: Pick<Clock, 'after'>
  readonly #logger: Logger
  #cancel: () => void = () => {}

  constructor(dataDir: string, { clock, logger }: { clock: Pick<Clock, 'after'>; logger: Logger }) {
    this.#dataDir = dataDir
    this.#clock = clock
    this.#logger = logger
  }

  /** Removes the file that somebody is about to write, a minute from now. */
  removeLater(): void {
    this.#cancel()
    this.#cancel = this.#clock.after(KEPT_MS, () => void this.remove())
  }

  /** Removes what there is. It opens nothing: a failure is only logged. */
  async remove(): Promise<void> {
    this.#cancel()
    const path = join(this.#dataDir, NAME)
    try {
      const target = await targetOf(path)
      if (target !== undefined) await unlinkIfThere(target)
      await unlinkIfThere(path)
    } catch (error) {
      this.#logger.warn(`Cannot remove ${NAME}`, { ...describeFailure(error) })
    }
  }
}

/** Where a link of ours leads; `undefined` for anything else, and nothing. */
async function targetOf(path: string): Promise<string | undefined> {
  const found = await statsOf(path)
  if (found?.isSymbolicLink() !== true) return undefined
  const target = await readlink(path)
  // Whatever else stands in its place, it is not ours to remove.
  return isAbsolute(target) && basename(target) === `clipgate-${NAME}` ? target : undefined
}

async function replaceLink(path: string, target: string): Promise<void> {
  const temporary = temporaryPath(path)
  await symlink(target, temporary)
  await renameOver(temporary, path)
}

async function unlinkIfThere(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error
  })
}

/** A delay of zero keeps the file out of the history of the tab. */
function pageTo(url: string): string {
  // Nothing in it needs to be escaped: an address as the parser spells it, a token in base64url.
  const { href } = new URL(url)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${href}">
<title>clipgate</title>
<p><a href="${href}">Open the panel</a></p>
</html>
`
}
