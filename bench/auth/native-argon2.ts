/**
 * What Argon2id costs as native code: the least that a login can cost.
 *
 * By `node:crypto` where it can, else by a package that is installed for that. The package takes a
 * thread for each lane, whatever it is told: so it is kept on one processor, to be what
 * `node:crypto` is.
 * @module
 */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Argon2Parameters } from '../../src/devices/phc-string.ts'
import { execute, findProgram } from '../support/processes.ts'

export interface NativeArgon2 {
  /** One run in a fresh process, of this Node. */
  run(node: string, parameters: Argon2Parameters): Promise<NativeRun>
}

export interface NativeRun {
  readonly ms: number
  /** Processor time in milliseconds. */
  readonly cpuMs: number
}

const PROGRAM = fileURLToPath(new URL('../baseline/native-argon2.js', import.meta.url))

export const PACKAGE = '@node-rs/argon2@2'

const NPM = process.env['NPM'] ?? 'npm'

/** @param folder To be made. @returns Why there is none, if so. */
export async function findNative(folder: string): Promise<NativeArgon2 | string> {
  const taskset = findProgram('taskset')
  if (taskset === undefined) return 'needs taskset'
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), '{"private":true}\n')
  try {
    const options = ['--prefer-offline', '--no-audit', '--no-fund']
    await execute(NPM, ['install', ...options, PACKAGE], { cwd: folder })
  } catch {
    // Without a network, for example; the rows say so.
    return `no registry has ${PACKAGE}`
  }
  const pin = ['-c', await firstProcessor()]
  return {
    run: async (node, parameters) => {
      const args = [...pin, node, PROGRAM, folder, JSON.stringify(parameters)]
      return JSON.parse((await execute(taskset, args, { env: {} })).stdout)
    },
  }
}

/** The first of those that this process may use. */
async function firstProcessor(): Promise<string> {
  const status = await readFile('/proc/self/status', 'utf8')
  const [, number] = /^Cpus_allowed_list:\s*(\d+)/m.exec(status) ?? []
  if (number === undefined) throw new Error('Cannot find out which processors there are')
  return number
}
