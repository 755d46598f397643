/** `clipgate service` with systemd: a unit of the user. @module */

import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { configFolder, type Surroundings } from '../../daemon/folders.ts'
import { pagePath } from '../../daemon/package-files.ts'
import { hasCode } from '../../lib/system-error.ts'
import { CommandError } from '../command.ts'
import { hasDesktop } from '../shell.ts'
import { installMenuEntry, removeMenuEntry } from './menu-entry.ts'
import {
  fillRecipe,
  findProgram,
  runProgram,
  type Program,
  type ServiceManager,
} from './manager.ts'

const UNIT = 'clipgate.service'

const RECIPE = 'systemd/user/clipgate.service'

/** Lines of the recipe for desktops alone. */
const WAITING_FOR_A_DISPLAY = `\
# Desktops tell this manager where their display is before they reach this target. Without a
# display clipgate would go on headless, and nobody would see why nothing is copied.
PartOf=graphical-session.target
After=graphical-session.target
ConditionEnvironment=|DISPLAY
ConditionEnvironment=|WAYLAND_DISPLAY
`

const PROPERTIES = ['ActiveState', 'SubState', 'FragmentPath', 'UnitFileState', 'WantedBy'] as const

const STAY = 'It ends when you log out for the last time; to keep it: loginctl enable-linger'

const NO_SESSION = (): string =>
  'No graphical session is known to systemd: it starts with the next one. Where the desktop ' +
  'tells systemd nothing, it must start clipgate: ' +
  `${pagePath('docs/guides/install.md')}, "Linux desktop"`

/** The manager of the user who runs this. */
export function createSystemdService(where: Surroundings): ServiceManager {
  const file = join(dirname(configFolder(where)), 'systemd', 'user', UNIT)
  const user = String(process.getuid?.())
  // A login by su or by a bare sshd does not name the folder, and it is there nevertheless.
  const environment = { XDG_RUNTIME_DIR: `/run/user/${user}`, ...where.environment }
  const systemctl = (...args: readonly string[]) =>
    runProgram(environment, 'systemctl', ['--user', ...args])

  const show = async (): Promise<Readonly<Record<string, string>>> => {
    const text = await systemctl('show', `--property=${PROPERTIES.join()}`, UNIT).catch(explain)
    return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, ...pair]) => pair))
  }

  const lacks = async (wantedBy = ''): Promise<readonly string[]> => {
    if (wantedBy.includes('graphical-session.target')) {
      const asked = systemctl('show', '--property=ActiveState', 'graphical-session.target')
      return (await asked).includes('=active') ? [] : [NO_SESSION()]
    }
    const asked = ['show-user', user, '--property=Linger', '--value']
    // Without logind, nobody lingers.
    const lingers = await runProgram(environment, 'loginctl', asked).catch(() => 'no')
    return lingers.trim() === 'yes' ? [] : [STAY]
  }

  const knowsDisplay = async (): Promise<boolean> =>
    /^(?:WAYLAND_)?DISPLAY=./m.test(await systemctl('show-environment'))

  const begin = async (verb: 'start' | 'restart'): Promise<void> => {
    // systemd does not start what failed too often, until it has forgotten that.
    if ((await show())['ActiveState'] === 'failed') await systemctl('reset-failed', UNIT)
    // Returns when it is ready. One that ends before that is told by its state.
    await systemctl(verb, UNIT).catch(async (error: unknown) => {
      const { ActiveState: state = '' } = await show()
      if (!['activating', 'failed'].includes(state)) throw error
    })
  }

  return {
    look: 'journalctl --user -u clipgate',
    state: async () => {
      const shown = await show()
      const isInstalled = shown['UnitFileState'] === 'enabled'
      return {
        isInstalled,
        // Also while it gets ready; not while systemd waits before it tries once more.
        isRunning: shown['ActiveState'] === 'active' || shown['SubState'] === 'start',
        file: shown['FragmentPath'] || undefined,
        advice: isInstalled ? await lacks(shown['WantedBy']) : [],
      }
    },
    install: async ({ headless, clipboard }) => {
      const isNode = headless || clipboard === 'none'
      const isOnDesktop = !isNode && (hasDesktop(where) || (await knowsDisplay()))
      const program = findProgram(where)
      const unit = await formatUnit(program, isOnDesktop)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, unit)
      await systemctl('daemon-reload')
      // Also takes away what an earlier one was started with.
      await systemctl('reenable', UNIT)
      await begin('restart')
      await (isOnDesktop ? installMenuEntry(where, program) : removeMenuEntry(where))
      if (!isOnDesktop) return []
      return ['In the menu of the desktop, clipgate opens the panel.']
    },
    start: () => begin('start'),
    remove: async () => {
      const shown = await show()
      await removeMenuEntry(where)
      if (shown['ActiveState'] !== 'inactive') await systemctl('stop', UNIT)
      if (shown['ActiveState'] === 'failed') await systemctl('reset-failed', UNIT)
      if (shown['UnitFileState'] === 'enabled') await systemctl('disable', UNIT)
      if (!existsSync(file)) return
      await rm(file)
      await systemctl('daemon-reload')
    },
  }
}

/** Fills in the unit. @param waits Whether it starts with a display, or with the first login. */
function formatUnit({ node, main }: Program, waits: boolean): Promise<string> {
  // In the first one, `$` means nothing.
  const start = `"${escapeSpecifiers(node)}" "${escapeSpecifiers(main).replaceAll('$', '$$$$')}"`
  const login = {
    [WAITING_FOR_A_DISPLAY]: '',
    'WantedBy=graphical-session.target': 'WantedBy=default.target',
  }
  return fillRecipe(RECIPE, { '%h/.local/bin/clipgate': start, ...(waits ? {} : login) })
}

function escapeSpecifiers(path: string): string {
  return path.replaceAll('\\', '\\\\').replaceAll('%', '%%')
}

function explain(error: unknown): never {
  if (!(error instanceof CommandError) || hasCode(error.cause, 'ENOENT')) throw error
  throw new CommandError(
    `${error.message}. Log in as this user itself, not with su or sudo; without systemd: ` +
      `${pagePath('docs/guides/install.md')} has recipes for other systems`,
    { cause: error.cause },
  )
}
