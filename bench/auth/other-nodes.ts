/**
 * Other versions of Node than the one that runs this, from the npm registry, where `make matrix`
 * keeps them too.
 * @module
 */

import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execute } from '../support/processes.ts'

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url))

const NPM = process.env['NPM'] ?? 'npm'

export interface OtherNode {
  /** `22`, as it was asked for. */
  readonly wanted: string
  /** Its program; `undefined` where there is none to be had. */
  readonly program: string | undefined
}

/** @param wanted Versions with spaces between them; `MATRIX` of the Makefile unless told. */
export async function findOtherNodes(
  wanted: string = process.env['MATRIX'] ?? '',
): Promise<readonly OtherNode[]> {
  const [own] = process.versions.node.split('.')
  const found: OtherNode[] = []
  for (const version of wanted.split(/\s+/)) {
    if (version === '' || version.split('.')[0] === own) continue
    found.push({ wanted: version, program: await getNode(version) })
  }
  return found
}

async function getNode(version: string): Promise<string | undefined> {
  // The package `node` only finds out, in a script of its own, that it is this one.
  const name = `node-${process.platform}-${process.arch}`
  const home = join(CACHE, `node-${version}`)
  const program = join(home, 'node_modules', name, 'bin', 'node')
  try {
    await access(program)
  } catch {
    const options = ['--silent', '--no-save', '--no-audit', '--no-fund', '--prefix', home]
    try {
      await execute(NPM, ['install', ...options, `${name}@${version}`])
    } catch {
      // Without a network, for example; the row says so.
      return undefined
    }
  }
  return program
}
