/** A small disk of its own for a test, where this machine lets us mount one. @module */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** Options for `it()`. That somebody may mount cannot be installed: it never has to be there. */
export const needsMount: { readonly skip: string | false } = {
  skip: canMount() ? false : 'skipped: needs tmpfs mount',
}

/** Mounts an empty disk of so many MiB, for so many files at most, and returns its path. */
export function mountSmallDisk(t: TestContext, mib: number, maxFiles = 0): string {
  const path = mkdtempSync(join(tmpdir(), 'clipgate-disk-'))
  mount(path, `size=${mib}m,mode=700,nr_inodes=${maxFiles}`)
  t.after(() => unmount(path))
  return path
}

/** Makes the disk read-only, and later writable again. */
export function setReadOnly(path: string, mode: 'ro' | 'rw'): void {
  execFileSync('mount', ['-o', `remount,${mode}`, path])
}

function canMount(): boolean {
  const path = mkdtempSync(join(tmpdir(), 'clipgate-disk-'))
  try {
    mount(path, 'size=1m')
    unmount(path)
    return true
  } catch {
    // Not root, not Linux, or a container without the right.
    rmSync(path, { recursive: true })
    return false
  }
}

function mount(path: string, options: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path], { stdio: 'ignore' })
}

function unmount(path: string): void {
  // Lazily: a file may still be open.
  execFileSync('umount', ['-l', path], { stdio: 'ignore' })
  rmSync(path, { recursive: true })
}
