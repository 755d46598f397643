/**
 * Lets the doctor go through an address of a test, with a device of the daemon behind it.
 * @module
 */

import type { LookupFunction } from 'node:net'
import type { TestContext } from 'node:test'
import { ownSurroundings } from '../../../src/daemon/folders.ts'
import { loadSettings } from '../../../src/daemon/load-settings.ts'
import { openAdmin } from '../../../src/daemon/open-admin.ts'
import type { Finding } from '../../../src/doctor/finding.ts'
import type { Admin } from '../../../src/ports/admin.ts'
import { type Machine, ownMachine } from '../../../src/doctor/situation.ts'
import { examine, type Address, type ExamineOptions } from '../../../src/doctor/through/examine.ts'
import type { Patience } from '../../../src/doctor/through/visit.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import type { DaemonProcess } from '../../support/daemon-process.ts'

/** Whatever the name, it is this machine. */
export const lookupHere: LookupFunction = (_host, options, callback) => {
  if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }])
  else callback(null, '127.0.0.1', 4)
}

export const MACHINE: Machine = ownMachine(ownSurroundings())

/** The owner of a daemon, as commands are. */
export async function openOwner(t: TestContext, { folder }: DaemonProcess): Promise<Admin> {
  const where = { ...ownSurroundings(), environment: {} }
  const options = { dataDir: `${folder}/data` }
  const admin = await openAdmin(loadSettings({ options, where, cwd: '/' }), new CaptureLogger())
  t.after(() => admin.close())
  return admin
}

const TEN_MINUTES = 600_000

/** However slow this machine is: what comes at all comes in time. */
const ENDLESS: Partial<Patience> = {
  connectMs: TEN_MINUTES,
  answerMs: TEN_MINUTES,
  helloMs: TEN_MINUTES,
  pingMs: TEN_MINUTES,
  refusalMs: TEN_MINUTES,
  totalMs: TEN_MINUTES,
}

/** What the doctor finds there. */
export function examineHere(
  { url, credentials }: Pick<Address, 'url'> & Partial<Address>,
  options: Partial<ExamineOptions> = {},
): Promise<readonly Finding[]> {
  const signal = new AbortController().signal
  const patience = { ...ENDLESS, ...options.patience }
  const all = { admin: undefined, machine: MACHINE, signal, ...options, patience }
  return examine({ url, credentials }, all)
}

export function problemsOf(findings: readonly Finding[]): readonly string[] {
  return findings.filter(({ ok }) => !ok).map(({ check }) => check)
}

/** For the message of an assertion. */
export function show(findings: readonly Finding[]): string {
  return findings.map(({ check, ok, detail }) => `${check} ${ok}: ${detail}`).join('\n')
}
