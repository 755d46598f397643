/**
 * What everybody on a Linux machine can see of a process.
 * @module
 */

import { readFile, readdir } from 'node:fs/promises'

/** Strings that end with a zero each. */
export interface ProcessView {
  readonly argv: Buffer
  readonly environ: Buffer
}

/** A process and all that it has started; those that have ended meanwhile are left out. */
export async function readTree(pid: number | undefined): Promise<readonly ProcessView[]> {
  if (pid === undefined) return []
  const view = await readProcess(pid)
  const children = await Promise.all((await childrenOf(pid)).map(readTree))
  return [...(view === undefined ? [] : [view]), ...children.flat()]
}

async function readProcess(pid: number): Promise<ProcessView | undefined> {
  try {
    const [argv, environ] = await Promise.all([
      readFile(`/proc/${pid}/cmdline`),
      readFile(`/proc/${pid}/environ`),
    ])
    return { argv, environ }
  } catch {
    // It has ended.
    return undefined
  }
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  try {
    const threads = await readdir(`/proc/${pid}/task`)
    const lists = await Promise.all(
      threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8')),
    )
    return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
  } catch {
    // It has ended.
    return []
  }
}
