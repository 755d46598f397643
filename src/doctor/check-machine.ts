/**
 * Runs every check that needs no address to go through.
 * @module
 */

import { describeFailure } from '../lib/describe-failure.ts'
import { DomainError } from '../core/domain-error.ts'
import type { Logger } from '../ports/logger.ts'
import { checkClipboard } from './check-clipboard.ts'
import { checkDaemon, checkDevices } from './check-daemon.ts'
import { checkDataDirectory, checkDisk, checkReceivedFolder } from './check-data.ts'
import { checkClock, checkDescriptors, checkMemory } from './check-limits.ts'
import { checkAddresses, checkFirewall, checkListening } from './check-network.ts'
import { findingOf, problem, type Finding, type Verdict } from './finding.ts'
import type { Situation } from './situation.ts'

type Check = (situation: Situation, logger: Logger) => Verdict | Promise<Verdict>

/** Every check by its name, in the order in which findings are told. */
const CHECKS: Readonly<Record<string, Check>> = {
  'data-directory': checkDataDirectory,
  daemon: checkDaemon,
  devices: checkDevices,
  listening: checkListening,
  addresses: checkAddresses,
  firewall: checkFirewall,
  clipboard: checkClipboard,
  'received-folder': checkReceivedFolder,
  clock: checkClock,
  disk: checkDisk,
  descriptors: checkDescriptors,
  memory: checkMemory,
}

/** Checks that read the data directory, and would only repeat that it cannot be used. */
const IN_DATA_DIRECTORY: readonly string[] = ['daemon', 'devices', 'disk']

/** Runs the checks one after the other. */
export async function checkMachine(
  situation: Situation,
  logger: Logger,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  let isUnusable = false
  for (const [name, check] of Object.entries(CHECKS)) {
    if (isUnusable && IN_DATA_DIRECTORY.includes(name)) continue
    const finding = findingOf(name, await attempt(() => check(situation, logger)))
    findings.push(finding)
    isUnusable ||= name === 'data-directory' && !finding.ok && situation.daemon === undefined
  }
  return findings
}

/** A check that fails is a finding like any other. */
async function attempt(check: () => Verdict | Promise<Verdict>): Promise<Verdict> {
  try {
    return await check()
  } catch (error) {
    if (error instanceof DomainError) {
      return problem(error.message, 'see what it names; a start would stop there')
    }
    const { reason } = describeFailure(error)
    const fix = 'see the file or the system call that it names'
    return problem(`cannot be checked: ${reason}`, fix)
  }
}
