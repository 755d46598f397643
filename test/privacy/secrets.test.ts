import assert from 'node:assert/strict'
import { relative } from 'node:path'
import { describe, it } from 'node:test'
import { main } from '../faults/support/subject.ts'
import { needsTracing } from '../faults/support/trace.ts'
import { onlyAtNight } from '../support/night.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Enclosure } from './support/enclosure.ts'
import { placeOf } from './support/places.ts'
import { PLACES, playDay } from './support/scenario.ts'
import { readTraces, type TracedCall, tracer } from './support/traced-writes.ts'

/** What one call wrote where it should not have. */
function judgeCall(enclosure: Enclosure, { name, descriptor, target, bytes }: TracedCall): void {
  // What goes over the network is for devices, and what is printed was judged already.
  const isForOthers = target.startsWith('socket:') || descriptor === 1 || descriptor === 2
  if (isForOthers || name === 'execve') return
  const place = placeOf(relative(enclosure.folder, target), PLACES)
  const allowed = descriptor === -1 ? place?.isNamedAfter : place?.holds
  enclosure.judge(`${name} ${target}`, bytes, allowed)
}

describe('secrets', () => {
  // By day the next one shows this, too.
  const alone = needsTracing.skip === false ? onlyAtNight() : {}
  it('stay where they belong, whatever is done with them', alone, async (t) => {
    const enclosure = await Enclosure.open(t, { main, places: PLACES })
    await playDay(enclosure)
    assert.deepEqual(enclosure.leaks, [])
  })

  it('are written nowhere else, not even for a moment', needsTracing, async (t) => {
    const traces = await temporaryFolder(t)
    const enclosure = await Enclosure.open(t, { main, places: PLACES, wrapper: tracer(traces) })
    await playDay(enclosure)
    const calls = await readTraces(traces)
    for (const call of calls) judgeCall(enclosure, call)
    assert.deepEqual(enclosure.leaks, [])
    // And nothing of ours starts another program, which would get arguments.
    const started = calls.filter(({ name }) => name === 'execve')
    assert.equal(started.length, enclosure.started)
    // It would be no test if nothing had been traced.
    const written = calls.filter(({ descriptor }) => descriptor > 2).map(({ target }) => target)
    for (const part of ['item.json', 'data/staging', 'data/blobs', 'server.json', 'work/.clip']) {
      assert.ok(
        written.some((target) => target.includes(part)),
        part,
      )
    }
  })
})
