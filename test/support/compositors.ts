/**
 * The compositors of GNOME and KDE without a screen, each with XWayland, in a folder of its own.
 * @module
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { startProgram } from './start-program.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** What programs on such a desktop have in their environment. */
export type DesktopEnv = Readonly<
  Record<'XDG_RUNTIME_DIR' | 'WAYLAND_DISPLAY' | 'DISPLAY' | 'XAUTHORITY', string>
>

/** What tests of mutter need. */
export const MUTTER_TOOLS: readonly string[] = ['mutter', 'Xwayland', 'dbus-daemon', 'wl-paste']

/** What tests of KWin need. */
export const KWIN_TOOLS: readonly string[] = ['kwin_wayland', 'Xwayland', 'dbus-daemon', 'wl-paste']

/** A virtual keyboard, without which the seat has none, and no window the focus. It ends with us. */
const KEYBOARD = `
from gi.repository import Gio, GLib
bus = Gio.bus_get_sync(Gio.BusType.SESSION)
name = 'org.gnome.Mutter.RemoteDesktop'
def call(path, interface, method, args=None):
    return bus.call_sync(name, path, interface, method, args, None, 0, -1, None).unpack()
session, = call('/org/gnome/Mutter/RemoteDesktop', name, 'CreateSession')
call(session, name + '.Session', 'Start')
for isDown in (True, False):
    call(session, name + '.Session', 'NotifyKeyboardKeycode', GLib.Variant('(ub)', (42, isDown)))
print('ready', flush=True)
GLib.MainLoop().run()
`

/** Starts mutter, with a keyboard; ends with the test. */
export async function startMutter(t: TestContext): Promise<DesktopEnv> {
  const { env, folder } = await prepare(t)
  const args = ['--headless', '--wayland', '--virtual-monitor', '1024x768']
  const mutter = await startProgram(['mutter', ...args], {
    env,
    ready: /Wayland display name '[^']+'/,
  })
  t.after(() => mutter.kill('SIGTERM'))
  const [, x11 = ''] = await mutter.says(/public X11 display (:\d+)/)
  const [, wayland = ''] = await mutter.says(/Wayland display name '([^']+)'/)
  const keyboard = await startProgram(['/usr/bin/python3', '-c', KEYBOARD], { env, ready: /ready/ })
  t.after(() => keyboard.kill())
  const key = (await readdir(folder)).find((name) => name.startsWith('.mutter-Xwaylandauth')) ?? ''
  const XAUTHORITY = join(folder, key)
  return { XDG_RUNTIME_DIR: folder, WAYLAND_DISPLAY: wayland, DISPLAY: x11, XAUTHORITY }
}

/** Starts KWin; ends with the test. */
export async function startKwin(t: TestContext): Promise<DesktopEnv> {
  const { env, folder } = await prepare(t)
  // Packages give it a capability, with which it does not start everywhere. A copy has none.
  const program = join(folder, 'kwin_wayland')
  await copyFile('/usr/bin/kwin_wayland', program)
  const client = join(folder, 'client')
  await writeFile(client, '#!/bin/sh\necho "$WAYLAND_DISPLAY $DISPLAY" >&2\n', { mode: 0o755 })
  const kwin = await startProgram([program, '--virtual', '--xwayland', client], {
    env: { ...env, KWIN_COMPOSE: 'Q' },
    ready: /^wayland-\d+ :\d+$/m,
  })
  t.after(() => kwin.kill('SIGTERM'))
  const [displays = ''] = await kwin.says(/^wayland-\d+ :\d+$/m)
  const [wayland = '', x11 = ''] = displays.split(' ')
  return { XDG_RUNTIME_DIR: folder, WAYLAND_DISPLAY: wayland, DISPLAY: x11, XAUTHORITY: '' }
}

/** A folder, and a session bus. */
async function prepare(t: TestContext) {
  const folder = await temporaryFolder(t)
  const bus = spawn('dbus-daemon', ['--session', '--nofork', '--print-address'])
  t.after(() => bus.kill())
  const [address] = await once(createInterface({ input: bus.stdout }), 'line')
  const env = { HOME: folder, XDG_RUNTIME_DIR: folder, DBUS_SESSION_BUS_ADDRESS: String(address) }
  return { folder, env }
}
