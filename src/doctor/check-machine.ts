/**
 * Runs every check that needs no address to go through; those of the daemon, of the clock, and of
 * what the process may have are here.
 * @module
 */

import { join } from 'node:path'
import { DomainError } from '../core/domain-error.ts'
import { MAX_HUB_CONNECTIONS_PER_DEVICE, MIB } from '../core/limits.ts'
import { readVersion } from '../daemon/version.ts'
import { readDeviceFile } from '../devices/device-file.ts'
import { LOGIN_BYTES } from '../devices/login-memory.ts'
import { affordableConnections } from '../http/connection-table.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import { formatBytes } from '../lib/format-bytes.ts'
import type { Logger } from '../ports/logger.ts'
import { checkClipboard } from './check-clipboard.ts'
import { checkDataDirectory, checkDisk, checkReceivedFolder } from './check-data.ts'
import { checkHttps } from './check-https.ts'
import { checkAddresses, checkFirewall, checkListening } from './check-network.ts'
import { findingOf, fine, hint, problem, type Finding, type Verdict } from './finding.ts'
import { readSystemFile, type Situation } from './situation.ts'

type Check = (situation: Situation, logger: Logger) => Verdict | Promise<Verdict>

/** Every check by its name, in the order in which findings are told. */
const CHECKS: Readonly<Record<string, Check>> = {
  'data-directory': checkDataDirectory,
  daemon: checkDaemon,
  devices: checkDevices,
  listening: checkListening,
  addresses: checkAddresses,
  https: checkHttps,
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

function checkDaemon({ daemon, trouble }: Situation): Verdict {
  if (trouble !== undefined) return trouble
  const own = readVersion()
  if (daemon === undefined) {
    const detail = `clipgate ${own} does not run; what follows is what a start would meet`
    return hint(detail, 'clipgate serve')
  }
  const { version, pid, mode = 'unknown mode' } = daemon.status
  const detail = `clipgate ${version} runs, ${mode}, process ${pid ?? 'unknown'}`
  if (version === own) return fine(detail)
  return hint(`${detail}; this program is ${own}`, 'stop the daemon, and start it again')
}

/** Devices that were never seen may be waiting for just what the other checks find. */
async function checkDevices(situation: Situation, logger: Logger): Promise<Verdict> {
  const { daemon, settings } = situation
  const path = join(settings.dataDir, 'devices.json')
  const devices = daemon?.devices ?? (await readDeviceFile(path, logger))
  if (devices.length === 0) {
    return daemon === undefined
      ? hint('none is paired yet', 'clipgate pair; the first start on a terminal does it too')
      : problem('none is paired', 'clipgate pair')
  }
  const refused = daemon?.devices.find((device) => device.refused !== undefined)
  if (refused !== undefined) {
    const { username } = refused
    const detail = `${devices.length} paired; logins as ${username} are refused: the password`
    return hint(detail, `for a new code to scan: clipgate rotate ${username}`)
  }
  const crowded = daemon?.devices.find(({ streams }) => streams >= MAX_HUB_CONNECTIONS_PER_DEVICE)
  if (crowded !== undefined) {
    const { username, streams } = crowded
    const detail = `${devices.length} paired; ${username} is used by ${streams} programs at once`
    return hint(`${detail}; one more puts another out`, 'pair each of them: clipgate pair')
  }
  const unseen = devices.filter(({ lastSeenAt }) => lastSeenAt === undefined)
  const [first] = unseen
  const count = `${devices.length} paired`
  if (first === undefined) return fine(count)
  const id = unseen.length === 1 ? first.username : 'ID'
  const fix = `for a new code to scan: clipgate rotate ${id}; to remove it: clipgate revoke ${id}`
  return hint(`${count}, ${unseen.length} never seen`, fix)
}

/** The first version is younger, and whoever runs this after the last year knows better. */
const YEARS: readonly [first: number, last: number] = [2025, 2100]

/** Times that differ by less, in milliseconds, are the same for clients that compare histories. */
export const TOLERANCE_MS = 60_000

/** With fewer connections, a few phones with a browser each are turned away. */
const FEW_CONNECTIONS = 64

/** With that much more, in bytes, requests and files are at ease beside a login. */
const SPARE_BYTES: number = 32 * MIB

/**
 * Looks whether the clock of this machine can be right. There is no other clock to ask: a check
 * through an address compares the one of a server with it.
 */
function checkClock({ machine, daemon }: Situation): Verdict {
  const now = machine.now()
  const date = new Date(now)
  const time = `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const fix = 'set it: sudo timedatectl set-ntp true, or the time settings of the desktop'
  const [first, last] = YEARS
  if (date.getUTCFullYear() < first || date.getUTCFullYear() > last) {
    return problem(`it says ${time}, which cannot be`, fix)
  }
  // Times that this machine wrote down itself must not lie in its future.
  const seen = (daemon?.devices ?? []).map(({ lastSeenAt, createdAt }) => lastSeenAt ?? createdAt)
  const activated = daemon?.status.item?.activatedAt
  const noted = activated === undefined ? seen : [...seen, activated]
  if (noted.some((text) => Date.parse(text) > now + TOLERANCE_MS)) {
    return problem(`it says ${time}, which is before times that the daemon has noted`, fix)
  }
  return fine(`${time}; whether it is right cannot be seen from here`)
}

async function checkDescriptors({ settings, machine, daemon }: Situation): Promise<Verdict> {
  const limits = await readSystemFile(machine, `proc/${daemon?.holder.pid ?? 'self'}/limits`)
  const affordable = affordableConnections(limits ?? '')
  const { maxConnections } = settings
  if (affordable === Infinity) return fine('the limit of open files cannot be seen from here')
  const detail = `the limit of open files leaves room for ${affordable} connections`
  if (affordable >= maxConnections) return fine(detail)
  const fix = `raise it to ${4 * maxConnections}: LimitNOFILE= of a systemd unit, or ulimit -n`
  return affordable < FEW_CONNECTIONS
    ? problem(detail, fix)
    : hint(`${detail}, and not ${maxConnections} (--max-connections)`, fix)
}

function checkMemory({ settings, machine }: Situation): Verdict {
  const available = machine.availableMemory()
  const needed = settings.verifyWorkers * LOGIN_BYTES
  const detail = `${formatBytes(available)} available; passwords take up to ${formatBytes(needed)}`
  if (available >= needed + SPARE_BYTES) return fine(detail)
  const fix = 'end other programs, raise the limit of the container, or lower --verify-workers'
  return available < needed ? problem(detail, fix) : hint(detail, fix)
}
