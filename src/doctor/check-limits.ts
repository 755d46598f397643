/**
 * Whether the process may have what it needs: open files, and memory.
 *
 * @module
 */

import { MIB } from '../core/limits.ts'
import { affordableConnections } from '../http/descriptor-limit.ts'
import { formatBytes } from '../lib/format-bytes.ts'
import { fine, hint, problem, type Finding } from './finding.ts'
import { readSystemFile } from './machine.ts'
import type { Situation } from './situation.ts'

/** Fewer, and a few phones with a browser each are turned away. */
const FEW_CONNECTIONS = 64

/** What Argon2id takes to verify a password. */
const VERIFY_BYTES: number = 64 * MIB

export async function checkDescriptors({ settings, machine, daemon }: Situation): Promise<Finding> {
  const check = 'descriptors'
  const limits = await readSystemFile(machine, `proc/${daemon?.holder.pid ?? 'self'}/limits`)
  const affordable = affordableConnections(limits ?? '')
  const { maxConnections } = settings
  if (affordable === Infinity)
    return fine(check, 'the limit of open files cannot be seen from here')
  const detail = `the limit of open files leaves room for ${affordable} connections`
  if (affordable >= maxConnections) return fine(check, detail)
  const fix = `raise it to ${4 * maxConnections}: LimitNOFILE= of a systemd unit, or ulimit -n`
  return affordable < FEW_CONNECTIONS
    ? problem(check, detail, fix)
    : hint(check, `${detail}, and not ${maxConnections} (--max-connections)`, fix)
}

export function checkMemory({ settings, machine }: Situation): Finding {
  const check = 'memory'
  const available = machine.availableMemory()
  const needed = settings.verifyWorkers * VERIFY_BYTES
  const detail = `${formatBytes(available)} available; passwords take up to ${formatBytes(needed)}`
  if (available >= 2 * needed) return fine(check, detail)
  const fix = 'end other programs, raise the limit of the container, or lower --verify-workers'
  return available < needed ? problem(check, detail, fix) : hint(check, detail, fix)
}
