import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import {
  HelperProcess,
  type HelperProcessOptions,
} from '../../../src/desktop/helper/helper-process.ts'
import type { HelperEvent } from '../../../src/desktop/helper/helper-message.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { Mailbox } from '../../support/mailbox.ts'
import { WatchedClock } from '../x11/support/watched-clock.ts'

/** What every helper here begins with. */
const PRELUDE = `
  const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n')
  const requests = (answer) => {
    require('node:readline').createInterface({ input: process.stdin })
      .on('line', (line) => answer(JSON.parse(line)))
  }
`

const READY = `say({ event: 'ready' });`

/** Lives until it is ended. */
const STAY = `setInterval(() => {}, 1 << 30);`

function prepare(t: TestContext, script: string, options: Partial<HelperProcessOptions> = {}) {
  const events = new Mailbox<HelperEvent>()
  const troubles = new Mailbox<string | { readonly isOver: true }>()
  const clock = new WatchedClock()
  const logger = new CaptureLogger()
  const start = async (): Promise<HelperProcess> => {
    const helper = await HelperProcess.start({
      command: process.execPath,
      args: ['-e', PRELUDE + script],
      env: {},
      clock,
      logger,
      maxLineBytes: 1000,
      onEvent: (event) => events.put(event),
      onTrouble: (message) => troubles.put(message ?? { isOver: true }),
      ...options,
    })
    t.after(() => helper.close())
    return helper
  }
  return { events, troubles, clock, logger, start }
}

async function start(t: TestContext, script: string, options: Partial<HelperProcessOptions> = {}) {
  const { start: run, ...rest } = prepare(t, script, options)
  const helper = await run()
  assert.deepEqual(await rest.events.next(), { event: 'ready' })
  return { helper, ...rest }
}

/** Its id while it runs; kept, because the helper forgets it when it ends. */
function pidOf(helper: HelperProcess): number {
  assert.ok(helper.pid !== undefined, 'the helper runs')
  return helper.pid
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('HelperProcess', { timeout: 60_000 }, () => {
  it('forwards events, in order', async (t) => {
    const script = `${READY} say({ event: 'changed', n: 1 }); say({ event: 'changed', n: 2 }); ${STAY}`
    const { events } = await start(t, script)
    assert.deepEqual(await events.next(), { event: 'changed', n: 1 })
    assert.deepEqual(await events.next(), { event: 'changed', n: 2 })
  })

  it('gives each request its own reply, whatever their order', async (t) => {
    const script = `
      let first
      requests((request) => {
        if (first === undefined) first = request
        else for (const { id, text } of [request, first]) say({ reply: id, text })
      })
      ${READY}`
    const { helper } = await start(t, script)
    const texts = ['one', '2 é\n']
    const replies = await Promise.all(texts.map((text) => helper.request('echo', { text })))
    assert.deepEqual(
      replies.map(({ text }) => text),
      texts,
    )
  })

  it('rejects what the helper refuses', async (t) => {
    const script = `requests(({ id, do: what }) => say({ reply: id, error: 'cannot ' + what })); ${READY}`
    const { helper } = await start(t, script)
    await assert.rejects(helper.request('read'), /^Error: cannot read$/)
  })

  it('rejects a request without a reply after 10 s, and needs no late one', async (t) => {
    const script = `
      let held
      requests(({ id, do: what }) => {
        if (what === 'hold') held = id
        else for (const reply of [held, id]) say({ reply })
      })
      ${READY}`
    const { helper, clock } = await start(t, script)
    const held = assert.rejects(helper.request('hold'), /does not answer/)
    clock.advance(10_000)
    await held
    await helper.request('release')
    assert.equal(clock.pending, 0)
  })

  it('rejects what waits for a reply when the helper ends', async (t) => {
    const { helper } = await start(t, `requests(() => process.exit(3)); ${READY}`)
    await assert.rejects(helper.request('end'), /ended/)
    await assert.rejects(helper.request('again'), /does not run/)
  })

  it('takes the last words of a helper that ends', async (t) => {
    const script = `requests(({ id }) => { say({ reply: id }); process.exit() }); ${READY}`
    const { helper } = await start(t, script)
    await helper.request('end')
  })

  it('holds back no more than it may for a helper that does not read', async (t) => {
    const { helper } = await start(t, `${READY} ${STAY}`, { maxLineBytes: 100_000 })
    const text = 'x'.repeat(40_000)
    const asked = Array.from({ length: 9 }, () => helper.request('read', { text }))
    const rejected = Promise.allSettled(asked)
    await assert.rejects(Promise.race(asked), /cannot take so much/)
    await helper.close()
    for (const { status } of await rejected) assert.equal(status, 'rejected')
  })

  it('starts a helper that ended again, after longer and longer pauses', async (t) => {
    const { troubles, events, clock } = await start(t, `${READY} process.exitCode = 3`)
    for (const pause of [300, 600, 1200, 2400, 4800, 9600, 19_200, 30_000, 30_000]) {
      assert.match(String(await troubles.next()), /ended with exit code 3$/)
      await clock.pass(pause)
      assert.deepEqual(await troubles.next(), { isOver: true })
      assert.deepEqual(await events.next(), { event: 'ready' })
    }
  })

  it('begins with the first pause again when the helper was well for long', async (t) => {
    const { helper, troubles, events, clock } = await start(t, `${READY} ${STAY}`)
    const pauses = [300, 600, 300]
    for (const [index, pause] of pauses.entries()) {
      if (index === 2) clock.advance(30_000)
      process.kill(pidOf(helper), 'SIGKILL')
      assert.match(String(await troubles.next()), /SIGKILL/)
      await clock.pass(pause)
      assert.deepEqual(await troubles.next(), { isOver: true })
      await events.next()
    }
  })

  it('starts a helper at once, and quietly, that ended to be renewed after a long time', async (t) => {
    const script = `requests(() => { say({ event: 'renewal' }); process.exit() }); ${READY}`
    const { helper, troubles, events, clock } = await start(t, script)
    clock.advance(30_000)
    await assert.rejects(helper.request('end'), /ended/)
    assert.deepEqual(await events.next(), { event: 'ready' })
    assert.equal(troubles.size, 0)
    // One that does so all the time is not well.
    await assert.rejects(helper.request('end'), /ended/)
    assert.match(String(await troubles.next()), /ended with exit code 0$/)
  })

  it('tells of trouble once, however many starts fail', async (t) => {
    let isAway = false
    const untilReady = async (): Promise<void> => {
      if (isAway) throw new Error('The server is away')
    }
    const { helper, troubles, clock } = await start(t, STAY, { untilReady })
    isAway = true
    process.kill(pidOf(helper), 'SIGTERM')
    await clock.pass(300)
    await clock.pass(600)
    isAway = false
    await clock.pass(1200)
    assert.match(String(await troubles.next()), /SIGTERM/)
    assert.deepEqual(await troubles.next(), { isOver: true })
    assert.equal(troubles.size, 0)
  })

  it('passes on the trouble that a helper tells of, and its end', async (t) => {
    const script = `
      ${READY}
      for (const message of ['away', 'away', undefined]) say({ event: 'trouble', message })
      ${STAY}`
    const { troubles } = await start(t, script)
    assert.equal(await troubles.next(), 'away')
    assert.deepEqual(await troubles.next(), { isOver: true })
  })

  it('lives with lines that make no sense, and logs them once, without what they say', async (t) => {
    const script = `
      ${READY}
      process.stdout.write('hunter2\\n{"event":7}\\n' + 'x'.repeat(5000) + 'hunter2\\n')
      say({ event: 'changed' })
      ${STAY}`
    const { events, logger } = await start(t, script)
    assert.deepEqual(await events.next(), { event: 'changed' })
    assert.equal(logger.lines.filter(({ level }) => level === 'warn').length, 1)
    assert.doesNotMatch(logger.text, /hunter2/)
  })

  it('logs that a helper complained, not about what, and not without end', async (t) => {
    const script = `
      process.stderr.write('hunter2\\n'.repeat(1000) + 'x'.repeat(100_000) + '\\n', () => {
        ${READY}
      })
      ${STAY}`
    const { logger, helper } = await start(t, script)
    await helper.close()
    const complaints = logger.lines.filter(({ message }) => /stderr/.test(message))
    assert.equal(complaints.length, 20)
    for (const { level } of complaints) assert.equal(level, 'debug')
    assert.doesNotMatch(logger.text, /hunter2/)
  })

  it('does not start when there is no such program', async (t) => {
    const { start: run, clock, troubles } = prepare(t, '', { command: 'clipgate-no-such-program' })
    await assert.rejects(run(), /"clipgate-no-such-program" is not installed/)
    assert.deepEqual([clock.pending, troubles.size], [0, 0])
  })

  it('does not start when the helper ends first, and names the reason', async (t) => {
    const explain = (line: string) => (line.includes('display') ? 'There is no display' : undefined)
    const script = `process.stderr.write('no display: hunter2\\nbye\\n'); process.exitCode = 1`
    const { start: run, clock, logger } = prepare(t, script, { explain })
    await assert.rejects(run(), /^Error: There is no display$/)
    assert.equal(clock.pending, 0)
    assert.doesNotMatch(logger.text, /hunter2/)
  })

  it('does not start when the helper is not ready after 10 s, and leaves nothing', async (t) => {
    const script = `say({ event: 'pid', pid: process.pid }); ${STAY}`
    const { start: run, clock, events } = prepare(t, script)
    const rejected = assert.rejects(run(), /does not become ready/)
    const { pid } = await events.next()
    await clock.pass(10_000)
    await rejected
    assert.equal(isAlive(Number(pid)), false)
    assert.equal(clock.pending, 0)
  })

  it('ends the helper when it is closed', async (t) => {
    const { helper, clock } = await start(t, `${READY} ${STAY}`)
    const pid = pidOf(helper)
    const asked = assert.rejects(helper.request('read'), /was closed/)
    await helper.close()
    await asked
    assert.equal(isAlive(pid), false)
    assert.equal(clock.pending, 0)
  })

  it('ends a helper that does not want to end', async (t) => {
    const script = `process.on('SIGTERM', () => say({ event: 'no' })); ${READY} ${STAY}`
    const { helper, clock, events } = await start(t, script)
    const pid = pidOf(helper)
    const closing = helper.close()
    await clock.pass(2000)
    await closing
    assert.equal(isAlive(pid), false)
    assert.equal(events.size, 0, 'nothing is called back after close')
  })

  it('ends also when a process that the helper started keeps its output', async (t) => {
    const script = `
      const { spawn } = require('node:child_process')
      const child = spawn(process.execPath, ['-e', '${STAY}'], { stdio: 'inherit' })
      say({ event: 'ready', child: child.pid })
      ${STAY}`
    const { start: run, clock, events } = prepare(t, script)
    const helper = await run()
    const { child } = await events.next()
    t.after(() => process.kill(Number(child), 'SIGKILL'))
    const closing = helper.close()
    await clock.pass(1000)
    await closing
  })

  it('can be closed while it waits for the next start', async (t) => {
    const { helper, troubles, clock, events } = await start(t, `${READY} process.exitCode = 1`)
    await troubles.next()
    await clock.hasOnly(300)
    await helper.close()
    assert.equal(clock.pending, 0)
    clock.advance(60_000)
    assert.equal(events.size, 0)
  })

  it('gives the helper the environment that it was given, and no other', async (t) => {
    const script = `say({ event: 'ready', env: process.env }); ${STAY}`
    const { start: run, events } = prepare(t, script, { env: { HELLO: 'there' } })
    await run()
    assert.deepEqual((await events.next())['env'], { HELLO: 'there' })
  })
})
