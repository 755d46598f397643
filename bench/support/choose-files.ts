/**
 * Which bench files a run is of, and what its results are called.
 * @module
 */

/** What `make bench` measures: what the README tells and strangers ask. */
export const TABLES: readonly string[] = [
  'auth',
  'desktop',
  'download',
  'idle-memory',
  'install',
  'requests',
  'start',
  'upload',
]

export interface Choice {
  /** What the files of its results begin with, so that no part of a run replaces all of one. */
  readonly name: string
  /** Names of bench files, each once. */
  readonly files: readonly string[]
}

/**
 * Chooses among bench files.
 *
 * @param wanted Names or paths; `all` is every file, and none are {@link TABLES}.
 * @param known Names of those that there are: `upload` of `bench/upload.bench.ts`.
 * @throws {Error} naming one that is not there, and those that are.
 */
export function chooseFiles(wanted: readonly string[], known: readonly string[]): Choice {
  if (wanted.length === 0) return { name: 'tables', files: TABLES }
  const names = new Set(wanted.map(nameOf))
  if (names.delete('all')) return { name: 'latest', files: known }
  for (const name of names) {
    if (known.includes(name)) continue
    throw new Error(`There is no bench "${name}"; there are ${['all', ...known].join(', ')}`)
  }
  return { name: [...names].join('+'), files: [...names] }
}

/** `upload` of `bench/upload.bench.ts`. */
export function nameOf(path: string): string {
  return path.replace(/^.*[/\\]/, '').replace(/(?:\.bench)?\.ts$/, '')
}
