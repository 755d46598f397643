import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { describe, it, type TestContext } from 'node:test'
import { Arrivals, type Arrival } from '../../../src/desktop/notifications/arrivals.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { fakeNotifySend, usePath } from '../../support/fake-notify-send.ts'
import { needs } from '../../support/requirements.ts'
import { Xvfb } from '../../support/xvfb.ts'
import { execute } from '../../support/execute.ts'

const FOLDER = '/home/me/Downloads/clipgate'

const PHOTO: Arrival = {
  from: 'Pixel',
  type: 'Image',
  name: 'IMG_1.jpg',
  size: 2_500_000,
  isFile: false,
}

const REPORT: Arrival = {
  from: 'Pixel',
  type: 'File',
  name: 'Report & <b>.pdf',
  size: 1234,
  isFile: true,
}

function open(t: TestContext, path: string) {
  usePath(t, path)
  const clock = new FakeClock()
  const logger = new CaptureLogger()
  const arrivals = new Arrivals({ clock, logger, folder: FOLDER, isAsked: true })
  t.after(() => arrivals.close())
  const show = (...all: readonly Arrival[]): void => {
    for (const one of all) arrivals.add(one)
    clock.advance(1000)
  }
  return { arrivals, show }
}

describe('notifications of what has arrived', () => {
  it('say who sent what, in few words, and never what a text is', async (t) => {
    const { path, calls } = await fakeNotifySend(t, 1)
    const { show } = open(t, path)
    for (const [sent, title, text] of [
      [PHOTO, 'From “Pixel”', 'A picture is on the clipboard, 2.4 MiB.'],
      [
        { ...PHOTO, type: 'Text', name: '', from: undefined },
        'From another computer',
        'A text is on the clipboard.',
      ],
      [REPORT, 'From “Pixel”', 'Report &amp; &lt;b&gt;.pdf, 1.2 KiB'],
      [
        { ...REPORT, name: `${'n'.repeat(99)}.tar.gz` },
        'From “Pixel”',
        `${'n'.repeat(24)}…${'n'.repeat(16)}.tar.gz, 1.2 KiB`,
      ],
    ] as const) {
      show(sent)
      let call = await calls.next()
      // This one knows no buttons, and is asked again without.
      if (call[0] !== '--app-name=clipgate') call = await calls.next()
      assert.deepEqual(call, ['--app-name=clipgate', '--', title, text])
    }
  })

  it('are one for all that comes at once', async (t) => {
    const { path, calls } = await fakeNotifySend(t, 1)
    const { show } = open(t, path)
    show(...Array<Arrival>(30).fill(PHOTO), REPORT)
    const text = '31 items, the last one: Report &amp; &lt;b&gt;.pdf, 1.2 KiB'
    assert.deepEqual((await calls.next()).slice(-2), ['From “Pixel”', text])
    await calls.next()
    show(PHOTO, { ...PHOTO, from: 'Tablet' })
    assert.equal((await calls.next()).at(-2), 'From your devices')
  })
})

describe('notifications on a real desktop', needs('dunst', 'notify-send', 'dbus-daemon'), () => {
  it('take the place of the one before, and open the folder', async (t) => {
    const { path, calls } = await fakeNotifySend(t, 0, 'xdg-open')
    const desktop = await startDesktop(t)
    const { show } = open(t, path)
    show(REPORT)
    await desktop.shows('From “Pixel”')
    await untilItCanBeToldToEnd()
    show({ ...REPORT, from: 'Tablet' })
    await desktop.shows('From “Tablet”')
    while ((await desktop.count()) !== 1);
    await desktop.control('action', '0')
    assert.deepEqual(await calls.next(), [FOLDER])
  })
})

/** Waits until the program has a handler for SIGINT, the second signal. */
async function untilItCanBeToldToEnd(): Promise<void> {
  const children = (await readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8'))
    .trim()
    .split(' ')
  for (const pid of children) {
    if (!(await readFile(`/proc/${pid}/comm`, 'utf8')).startsWith('notify-send')) continue
    for (;;) {
      const status = await readFile(`/proc/${pid}/status`, 'utf8')
      const [, caught = '0'] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(status) ?? []
      if ((BigInt(`0x${caught}`) & 2n) !== 0n) return
    }
  }
}

/** A screen, a session bus and a program that shows notifications. */
async function startDesktop(t: TestContext) {
  const screen = await Xvfb.start(t)
  const bus = spawn('dbus-daemon', ['--session', '--nofork', '--print-address'])
  t.after(() => bus.kill())
  const [address] = await once(createInterface({ input: bus.stdout }), 'line')
  const before = { ...process.env }
  process.env['DBUS_SESSION_BUS_ADDRESS'] = address
  t.after(() => {
    process.env['DBUS_SESSION_BUS_ADDRESS'] = before['DBUS_SESSION_BUS_ADDRESS']
  })
  const env = { ...process.env, DISPLAY: screen.display }
  const dunst = spawn('dunst', ['-conf', '/dev/null', '-print'], { env })
  t.after(() => dunst.kill())
  const printed = createInterface({ input: dunst.stdout })[Symbol.asyncIterator]()
  const control = async (...args: readonly string[]) =>
    (await execute('dunstctl', args, { env })).stdout
  return {
    control,
    count: async () => Number(await control('count', 'displayed')),
    /** Reads what it prints until it has shown a title. */
    shows: async (title: string) => {
      for (;;) {
        const { value, done } = await printed.next()
        if (done === true) throw new Error('It ended')
        if (value.includes(title)) return
      }
    },
  }
}
