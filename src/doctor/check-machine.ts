/**
 * Runs every check that needs no address to go through.
 *
 * @module
 */

import { describeFailure } from '../lib/describe-failure.ts'
import { DomainError } from '../core/domain-error.ts'
import type { Logger } from '../ports/logger.ts'
import { checkAddresses } from './check-addresses.ts'
import { checkClipboard, checkReceivedFolder } from './check-clipboard.ts'
import { checkClock } from './check-clock.ts'
import { checkDaemon, checkDevices } from './check-daemon.ts'
import { checkDataDirectory } from './check-data-directory.ts'
import { checkDisk } from './check-disk.ts'
import { checkFirewall } from './check-firewall.ts'
import { checkDescriptors, checkMemory } from './check-limits.ts'
import { checkListening } from './check-listening.ts'
import { problem, type Finding } from './finding.ts'
import type { Situation } from './situation.ts'

type Check = (situation: Situation, logger: Logger) => Finding | Promise<Finding>

/** In the order in which they are told. */
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

/** What reads it. */
const IN_DATA_DIRECTORY: readonly string[] = ['daemon', 'devices', 'disk']

export async function checkMachine(
  situation: Situation,
  logger: Logger,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  let isUnusable = false
  for (const [name, check] of Object.entries(CHECKS)) {
    // They would say the same again.
    if (isUnusable && IN_DATA_DIRECTORY.includes(name)) continue
    const finding = await attempt(name, () => check(situation, logger))
    findings.push(finding)
    isUnusable ||= name === 'data-directory' && !finding.ok && situation.daemon === undefined
  }
  return findings
}

/** A check that fails is a finding like any other. */
async function attempt(name: string, check: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await check()
  } catch (error) {
    if (error instanceof DomainError) {
      return problem(name, error.message, 'see what it names; a start would stop there')
    }
    const { reason } = describeFailure(error)
    return problem(
      name,
      `cannot be checked: ${reason}`,
      'see the file or the system call that it names',
    )
  }
}
