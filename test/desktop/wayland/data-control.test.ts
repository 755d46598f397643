import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { systemClock } from '../../../src/lib/clock.ts'
import { findDataControl, waylandSocket } from '../../../src/desktop/wayland/data-control.ts'
import { formatWaylandMessage } from '../../../src/desktop/wayland/wayland-messages.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { needs } from '../../support/requirements.ts'
import { startProgram } from '../../support/start-program.ts'
import { Sway, SWAY_TOOLS } from '../../support/sway.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { announcement, FakeWayland } from './support/fake-wayland.ts'

const clock = new FakeClock()

async function find(t: TestContext, interfaces: readonly string[]): Promise<string> {
  const { socket } = await FakeWayland.start(t, interfaces)
  return findDataControl(socket, { clock })
}

describe('waylandSocket', () => {
  it('is where the environment says', () => {
    const XDG_RUNTIME_DIR = '/run/user/1000'
    const env = { XDG_RUNTIME_DIR, WAYLAND_DISPLAY: 'wayland-1' }
    assert.equal(waylandSocket(env), '/run/user/1000/wayland-1')
    assert.equal(waylandSocket({ WAYLAND_DISPLAY: '/elsewhere/socket' }), '/elsewhere/socket')
    assert.throws(() => waylandSocket({ XDG_RUNTIME_DIR }), /WAYLAND_DISPLAY is not set/)
    assert.throws(
      () => waylandSocket({ WAYLAND_DISPLAY: 'wayland-1' }),
      /XDG_RUNTIME_DIR is not set/,
    )
  })
})

describe('findDataControl', { timeout: 60_000 }, () => {
  it('knows both protocols, and prefers the older one', async (t) => {
    const [wlr, ext] = ['zwlr_data_control_manager_v1', 'ext_data_control_manager_v1']
    assert.equal(await find(t, ['wl_seat', wlr]), 'wlr')
    assert.equal(await find(t, [ext, 'wl_seat']), 'ext')
    assert.equal(await find(t, [ext, wlr, 'wl_seat']), 'wlr')
    await assert.rejects(find(t, ['wl_seat', 'wl_data_device_manager']), /data-control/)
    await assert.rejects(find(t, []), /data-control/)
    await assert.rejects(find(t, [wlr]), /no seat/)
  })

  it('says that the compositor hung up, or refused', async (t) => {
    const hung = await FakeWayland.startWith(t, (socket) => socket.end())
    await assert.rejects(findDataControl(hung.socket, { clock }), /is away/)
    // `wl_display.error`.
    const error = formatWaylandMessage(1, 0, [1, 0, 0])
    const refusing = await FakeWayland.startWith(t, (socket) => void socket.write(error))
    await assert.rejects(findDataControl(refusing.socket, { clock }), /refuses/)
  })

  it('says that it is no compositor', async (t) => {
    const other = await FakeWayland.startWith(t, (socket) => void socket.write(Buffer.alloc(64)))
    await assert.rejects(findDataControl(other.socket, { clock }), /no size/)
  })

  it('does not listen to somebody who never comes to an end', async (t) => {
    const endless = await FakeWayland.startWith(t, (socket) => {
      const names = Array.from({ length: 200 }, () => 'wl_output')
      const events = announcement(names).subarray(0, -12)
      const write = (): void => {
        if (socket.write(events)) setImmediate(write)
      }
      socket.on('drain', write)
      write()
    })
    await assert.rejects(findDataControl(endless.socket, { clock }), /too much/)
  })

  it('gives up after two seconds without an answer, or when it is told to', async (t) => {
    const silent = await FakeWayland.startWith(t, () => undefined)
    const own = new FakeClock()
    const late = assert.rejects(findDataControl(silent.socket, { clock: own }), /does not answer/)
    await silent.clients.next()
    own.advance(2000)
    await late
    const ending = new AbortController()
    const { signal } = ending
    const aborted = findDataControl(silent.socket, { clock: own, signal })
    ending.abort(new Error('enough'))
    await assert.rejects(aborted, /enough/)
    assert.equal(own.pending, 0)
  })

  it('finds it in sway', needs(...SWAY_TOOLS), async (t) => {
    const sway = await Sway.start(t)
    assert.equal(await findDataControl(waylandSocket(sway.env), { clock: systemClock }), 'wlr')
  })

  it('does not find it in weston', needs('weston'), async (t) => {
    const XDG_RUNTIME_DIR = await temporaryFolder(t)
    const args = ['--backend=headless-backend.so', '--socket=wayland-5', '--idle-time=0']
    // It starts its shell once it accepts connections.
    const options = { env: { XDG_RUNTIME_DIR }, ready: /launching/ }
    const weston = await startProgram(['weston', ...args], options)
    t.after(() => weston.kill())
    const socket = waylandSocket({ XDG_RUNTIME_DIR, WAYLAND_DISPLAY: 'wayland-5' })
    await assert.rejects(findDataControl(socket, { clock: systemClock }), /data-control/)
  })
})
