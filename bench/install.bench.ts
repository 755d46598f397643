/**
 * What does an installation bring onto the disk, beside that of a web framework? (B14)
 * @module
 */

import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bench } from './support/bench.ts'
import { execute } from './support/processes.ts'
import { judge } from './support/row.ts'

const PROJECT = fileURLToPath(new URL('..', import.meta.url))

const NPM = process.env['NPM'] ?? 'npm'

/** Disks count in these, whatever size their blocks have. */
const DISK_BLOCK_BYTES = 512

interface Installation {
  readonly packages: number
  readonly megabytes: number
}

void bench(async ({ folder }) => {
  await execute(NPM, ['pack', '--pack-destination', folder], { cwd: PROJECT })
  const archive = (await readdir(folder)).find((name) => name.endsWith('.tgz'))
  if (archive === undefined) throw new Error('npm packed nothing')
  const own = await install(join(folder, 'own'), join(folder, archive))
  const express = await installExpress(join(folder, 'express'))
  return [
    judge('B14 packages', { measured: [own.packages], baseline: express && [express.packages] }),
    judge('B14 size', { measured: [own.megabytes], baseline: express && [express.megabytes] }),
  ]
})

async function installExpress(folder: string): Promise<Installation | undefined> {
  try {
    return await install(folder, 'express')
  } catch {
    console.log('express is not measured: no registry has it')
    return undefined
  }
}

/** Installs into a new folder, without what is optional or for development. */
async function install(folder: string, what: string): Promise<Installation> {
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), '{"private":true}\n')
  const options = ['--omit=dev', '--omit=optional', '--prefer-offline', '--no-audit', '--no-fund']
  await execute(NPM, ['install', ...options, what], { cwd: folder })
  const modules = join(folder, 'node_modules')
  const lock: { readonly packages: object } = JSON.parse(
    await readFile(join(modules, '.package-lock.json'), 'utf8'),
  )
  const packages = Object.keys(lock.packages).length
  return { packages, megabytes: (await sizeOnDisk(modules)) / 1e6 }
}

async function sizeOnDisk(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true })
  const states = await Promise.all(entries.map((entry) => stat(join(folder, entry))))
  return states.reduce((sum, { blocks }) => sum + blocks * DISK_BLOCK_BYTES, 0)
}
