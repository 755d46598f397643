/**
 * The session of a user in which systemd starts services, on a machine of its own: with its own
 * processes, folders for sockets, and network.
 * @module
 */

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { needsMachines } from './machines.ts'
import { execute } from './execute.ts'

/** Options for `it()`. */
export function needsUserSession(): { readonly skip: string | false } {
  return needsMachines('systemctl', 'systemd-run', 'unshare', 'nsenter', 'mount')
}

export interface UserSession {
  /** Runs a program as the user does in a terminal, and returns what it printed. */
  run(...command: readonly string[]): Promise<string>
  /** Logs out: systemd ends its services, and then the machine is gone. */
  end(): Promise<void>
}

/** The address of the machine in its network, which has nobody else in it. */
export const LAN_ADDRESS = '192.168.1.20'

/** As desktops have it: graphical-session.target cannot be started by itself. */
const DESKTOP = `
[Unit]
BindsTo=graphical-session.target
Before=graphical-session.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
`

/** The first process of the machine. systemd as the first one would be that of the whole system. */
const MACHINE = `
set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system
mkdir -p -m 700 "$XDG_RUNTIME_DIR"
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir "/sys/fs/cgroup/$1"
echo $$ >"/sys/fs/cgroup/$1/cgroup.procs"
ip link set lo up
ip link add lan type veth peer name phone
ip address add ${LAN_ADDRESS}/24 dev lan
ip link set lan up
ip link set phone up
# Mounted where its own group is the root: it finds the service of a process by the path of its group.
umount /sys/fs/cgroup
unshare --cgroup sh -c 'mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec /lib/systemd/systemd --user' &
# Services of this machine that fail here do not matter to the test.
until systemctl --user is-system-running --wait 2>/dev/null | grep -Eq 'running|degraded'
do kill -0 $!; done
echo ready
wait
`

/** Removes the groups of processes, which the kernel keeps as empty folders. */
const SWEEP = `
mount -t cgroup2 cgroup2 /mnt
find "/mnt/$1" -depth -type d -exec rmdir '{}' ';'
`

/**
 * Logs in. Whatever is in the home folder stays when the session ends, as on a disk.
 *
 * @param variables What programs in this session see besides; systemd is told nothing of it.
 */
export async function startUserSession(
  t: TestContext,
  home: string,
  variables: NodeJS.ProcessEnv = {},
): Promise<UserSession> {
  const group = `clipgate-${process.pid}-${randomBytes(3).toString('hex')}`
  const { PATH } = process.env
  const env = { PATH, HOME: home, XDG_RUNTIME_DIR: `/run/user/${process.getuid?.()}` }
  const kept = ['--mount', '--pid', '--net', '--fork', '--kill-child', '--mount-proc']
  const machine = spawn('unshare', [...kept, 'sh', '-c', MACHINE, 'sh', group], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = once(machine, 'exit')
  const sweep = () => execute('unshare', ['--mount', 'sh', '-c', SWEEP, 'sh', group])
  t.after(async () => {
    machine.kill('SIGKILL')
    await gone
    await sweep().catch(() => undefined)
  })
  for await (const line of createInterface({ input: machine.stdout })) {
    if (line === 'ready') break
  }
  const first = await readFile(`/proc/${machine.pid}/task/${machine.pid}/children`, 'utf8')
  const inside = ['--target', first.trim(), '--mount', '--pid', '--net']
  const runThere = async (...command: readonly string[]): Promise<string> => {
    const options = { env: { ...env, ...variables }, maxBuffer: Infinity }
    return (await execute('nsenter', [...inside, ...command], options)).stdout
  }
  return {
    run: runThere,
    end: async () => {
      await runThere('systemctl', '--user', 'exit').catch((error: unknown) => {
        // The end of the session may overtake that of the command.
        if (!(error instanceof Error && 'signal' in error && error.signal === 'SIGKILL'))
          throw error
      })
      await gone
    },
  }
}

/** Does what a desktop does when it starts: it tells systemd of its display, then of itself. */
export async function startDesktop(session: UserSession, home: string): Promise<void> {
  const units = join(home, '.config/systemd/user')
  await mkdir(units, { recursive: true })
  await writeFile(join(units, 'desktop.service'), DESKTOP)
  await session.run('systemctl', '--user', 'daemon-reload')
  await session.run('systemctl', '--user', 'import-environment', 'DISPLAY')
  await session.run('systemctl', '--user', 'start', 'desktop')
}
