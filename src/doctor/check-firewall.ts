/**
 * Which firewall may be in the way. Rules can only be read by root, and those of routers not at
 * all: this names what is on, and the command that lets phones in.
 *
 * @module
 */

import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { isLoopbackHost } from '../daemon/host-port.ts'
import { gatewayAddresses } from './check-listening.ts'
import { fine, hint, type Finding } from './finding.ts'
import { readSystemFile, type Machine } from './machine.ts'
import type { Situation } from './situation.ts'

const CHECK = 'firewall'

const UNSEEN = 'its rules cannot be seen from here'

/** Systemd keeps such a folder while the service runs. */
const FIREWALLD = 'sys/fs/cgroup/system.slice/firewalld.service'

const NFTABLES = 'etc/systemd/system/sysinit.target.wants/nftables.service'

export async function checkFirewall(situation: Situation): Promise<Finding> {
  const { machine } = situation
  const open = gatewayAddresses(situation).filter(({ host }) => !isLoopbackHost(host))
  const [first] = open
  if (first === undefined) return fine(CHECK, 'none matters: the gateway listens on loopback only')
  const port = first.port === 0 ? 'PORT' : String(first.port)

  if (machine.platform === 'darwin') {
    const fix = 'System Settings, Network, Firewall, Options: allow incoming connections for node'
    return hint(CHECK, 'macOS may ask, or block silently; that cannot be seen from here', fix)
  }
  if (machine.platform === 'win32') {
    const fix =
      'as administrator: netsh advfirewall firewall add rule name=clipgate dir=in action=allow ' +
      `protocol=TCP localport=${port} profile=private`
    return hint(
      CHECK,
      'Windows blocks programs that nobody allowed; that cannot be seen from here',
      fix,
    )
  }
  return checkLinux(machine, port)
}

async function checkLinux(machine: Machine, port: string): Promise<Finding> {
  const ufw = await readSystemFile(machine, 'etc/ufw/ufw.conf')
  if (ufw !== undefined && /^ENABLED=yes$/im.test(ufw)) {
    const rules = await readSystemFile(machine, 'etc/ufw/user.rules')
    if (rules !== undefined && allowsPort(rules, port)) {
      return fine(CHECK, `ufw is on, and has a rule that allows port ${port}`)
    }
    const why = rules === undefined ? UNSEEN : `it has no rule for port ${port}`
    return hint(CHECK, `ufw is on; ${why}`, `sudo ufw allow ${port}/tcp`)
  }
  if (await exists(machine, FIREWALLD)) {
    const fix = `sudo firewall-cmd --permanent --add-port=${port}/tcp && sudo firewall-cmd --reload`
    return hint(CHECK, `firewalld runs; ${UNSEEN}`, fix)
  }
  if (await exists(machine, NFTABLES)) {
    const fix = `in /etc/nftables.conf, in the chain for input: tcp dport ${port} accept`
    return hint(CHECK, `nftables is loaded at boot; ${UNSEEN}`, fix)
  }
  return fine(
    CHECK,
    'neither ufw, firewalld nor nftables is set up; other rules cannot be seen from here',
  )
}

/** Rules of ufw, as it keeps them: `### tuple ### allow tcp 42720 0.0.0.0/0 any 0.0.0.0/0 in`. */
function allowsPort(rules: string, port: string): boolean {
  return rules.split('\n').some((line) => {
    const [, action, protocol, ports = ''] =
      /^### tuple ### (allow|limit)\S* (\S+) (\S+) .* in/.exec(line) ?? []
    const isRight = action === 'allow' && (protocol === 'tcp' || protocol === 'any')
    return isRight && (ports === 'any' || ports.split(',').includes(port))
  })
}

async function exists({ root }: Machine, path: string): Promise<boolean> {
  try {
    await lstat(join(root, path))
    return true
  } catch {
    // Not there, or hidden: the sentence about what was not found says so.
    return false
  }
}
