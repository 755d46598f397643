/**
 * A machine where all is well but for what a test says, and what the doctor finds on it.
 * @module
 */

import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { NetworkInterfaces } from '../../../src/daemon/addresses.ts'
import { ownSurroundings } from '../../../src/daemon/folders.ts'
import { loadSettings } from '../../../src/daemon/load-settings.ts'
import { checkMachine } from '../../../src/doctor/check-machine.ts'
import type { Finding } from '../../../src/doctor/finding.ts'
import { readSituation, type DiskNumbers, type Machine } from '../../../src/doctor/situation.ts'
import type { DaemonStatus } from '../../../src/ports/admin.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { createFakeAdmin, STATUS } from '../../support/fake-admin.ts'
import { holdDataDirectory, serveControl } from '../../support/held-data-directory.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { problemsOf, show } from './examine-site.ts'

/** Bytes. */
export const GIB: number = 1024 ** 3

/** A disk with room. */
export const ROOMY: DiskNumbers = {
  bsize: 4096,
  bavail: (100 * GIB) / 4096,
  files: 1e6,
  ffree: 1e6,
}

/** What is not as everywhere. */
export interface Surroundings extends Partial<Machine> {
  readonly options?: Readonly<Record<string, unknown>>
  readonly dataDir?: string
  /** Files of the system, by their path below `/`. */
  readonly files?: Readonly<Record<string, string>>
}

/** What the doctor says of a machine where all is well but for this. */
export async function check(t: TestContext, surroundings: Surroundings = {}): Promise<Findings> {
  const { options = {}, dataDir, files = {}, ...machine } = surroundings
  const folder = await temporaryFolder(t)
  const root = join(folder, 'root')
  await mkdir(root)
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  const where = { ...ownSurroundings(), environment: {}, home: folder }
  const settings = loadSettings({
    options: {
      dataDir: dataDir ?? join(folder, 'data'),
      receivedDir: join(folder, 'received'),
      clipboard: 'none',
      control: '127.0.0.1:0',
      listen: ['0.0.0.0:0'],
      ...options,
    },
    where,
    cwd: folder,
  })
  const logger = new CaptureLogger()
  const situation = await readSituation(
    settings,
    {
      platform: 'linux',
      environment: {},
      root,
      interfaces: interfaces({ eth0: '192.168.1.20' }),
      sourceAddress: async () => '192.168.1.20',
      resolve: async () => [],
      statfs: async () => ROOMY,
      now: () => Date.now(),
      availableMemory: () => GIB,
      ...machine,
    },
    logger,
  )
  try {
    return new Findings(await checkMachine(situation, logger))
  } finally {
    await situation.daemon?.admin.close()
  }
}

/** What the doctor has found. */
export class Findings {
  readonly all: readonly Finding[]

  constructor(all: readonly Finding[]) {
    this.all = all
  }

  /** What was said about one thing. */
  of(check: string): Finding {
    const finding = this.all.find((candidate) => candidate.check === check)
    assert.ok(finding !== undefined, `no ${check}:\n${show(this.all)}`)
    return finding
  }

  /** Fails unless this was said, as the command prints it; a problem is the only one then. */
  expect(check: string, said: RegExp): void {
    const { ok, detail, fix } = this.of(check)
    const problems = problemsOf(this.all)
    if (fix !== undefined) assert.deepEqual(problems, ok ? [] : [check], show(this.all))
    const word = fix === undefined ? 'ok' : 'hint'
    const text = `${ok ? word : 'PROBLEM'} ${detail}${fix === undefined ? '' : ` -> ${fix}`}`
    assert.match(text, said)
  }
}

/** Takes a data directory like a daemon whose owner hears this. */
export async function besideDaemon(t: TestContext, status: Partial<DaemonStatus>) {
  const held = await holdDataDirectory(t)
  const fake = await createFakeAdmin()
  await fake.registry.add({ kind: 'phone', username: 'my_phone' })
  const changed = async () => ({ ...STATUS, listeners: [], ...status })
  await serveControl(t, held, { ...fake, status: changed })
  return { dataDir: held.dataDir, registry: fake.registry }
}

/** Interfaces with one address each. */
export function interfaces(addresses: Readonly<Record<string, string>>): () => NetworkInterfaces {
  const entries = Object.entries(addresses).map(([name, address]) => {
    return [name, [{ address, internal: false, cidr: null }]] as const
  })
  return () => Object.fromEntries(entries)
}
