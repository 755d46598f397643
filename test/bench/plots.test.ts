import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createAxis, formatTick } from '../../bench/support/axis.ts'
import { drawPlots } from '../../bench/support/plots.ts'
import fc, { forAll } from '../support/property.ts'

describe('createAxis()', () => {
  it('has a place from 0 to 1 for every value, in their order', () => {
    const values = fc.array(fc.double({ min: 1e-6, max: 1e12, noNaN: true }), { minLength: 1 })
    forAll(fc.constantFrom('linear', 'log'), values, (scale, unsorted) => {
      const axis = createAxis(scale, unsorted)
      const places = unsorted.toSorted((a, b) => a - b).map((value) => axis.place(value))
      assert.ok(
        places.every((place) => place >= 0 && place <= 1 + 1e-9),
        places.join(),
      )
      assert.deepEqual(
        places,
        places.toSorted((a, b) => a - b),
      )
    })
  })

  it('has some ticks, and not many, at places of their own', () => {
    const values = fc.array(fc.double({ min: 1e-3, max: 1e9, noNaN: true }), { minLength: 1 })
    forAll(fc.constantFrom('linear', 'log'), values, (scale, some) => {
      const { ticks } = createAxis(scale, some)
      assert.ok(ticks.length >= 2 && ticks.length <= 14, `${ticks.length} ticks`)
      assert.ok(
        ticks.every(({ at }) => at >= -1e-9 && at <= 1 + 1e-9),
        JSON.stringify(ticks),
      )
      assert.equal(new Set(ticks.map(({ at }) => at)).size, ticks.length)
    })
  })

  it('begins at zero when it is linear', () => {
    assert.equal(createAxis('linear', [500, 520]).place(0), 0)
  })

  it('shows percentiles by their nines', () => {
    const { place, ticks } = createAxis('nines', [0, 50, 99.9])
    assert.deepEqual(
      ticks.map(({ text }) => text),
      ['0', '50', '90', '99', '99.9'],
    )
    const step = place(99) - place(90)
    assert.ok(Math.abs(place(99.9) - place(99) - step) < 1e-9, `${step}`)
  })
})

describe('formatTick()', () => {
  it('shortens large numbers and rounding errors', () => {
    const texts = [0, 0.30000000000000004, 5, 1000, 1_500_000, 1e10].map(formatTick)
    assert.deepEqual(texts, ['0', '0.3', '5', '1 k', '1.5 M', '10 G'])
  })
})

describe('drawPlots()', () => {
  const curves = [
    {
      plot: 'throughput',
      name: 'up & "down" <b>',
      points: [
        [1, 0.1],
        [1e3, 80],
        [1e9, 500],
      ],
    },
    {
      plot: 'throughput',
      name: 'nginx',
      points: [
        [1, 0.2],
        [1e9, 1500],
      ],
    },
    { plot: 'latency', name: 'nobody was measured', points: [] },
  ] as const

  it('draws a plot for each name that has points, and no other', () => {
    assert.deepEqual(
      drawPlots(curves).map(({ plot }) => plot),
      ['throughput'],
    )
    assert.deepEqual(drawPlots([]), [])
  })

  it('names its axes with their units, and its curves, as text', () => {
    const [{ svg } = { svg: '' }] = drawPlots(curves)
    const name = 'up &amp; &quot;down&quot; &lt;b&gt;'
    for (const text of ['size (bytes)', 'throughput (MB/s)', name]) {
      assert.ok(svg.includes(`>${text}</text>`), `${text} is missing in ${svg}`)
    }
    assert.equal(svg.match(/<polyline/g)?.length, 2)
    assert.equal(svg.match(/<circle/g)?.length, 5)
  })

  it('needs nothing from elsewhere, and is read in the dark', () => {
    const [{ svg } = { svg: '' }] = drawPlots(curves)
    assert.doesNotMatch(svg, /url\(|href|@import|<script|<image|<foreignObject|NaN|Infinity/)
    assert.match(svg, /prefers-color-scheme: dark/)
    assert.deepEqual(svg.match(/https?:[^"]+/g), ['http://www.w3.org/2000/svg'])
  })

  it('keeps all points within its area', () => {
    const [{ svg } = { svg: '' }] = drawPlots(curves)
    for (const [, cx, cy] of svg.matchAll(/<circle class="d\d" cx="([\d.]+)" cy="([\d.]+)"/g)) {
      assert.ok(Number(cx) >= 74 && Number(cx) <= 560, `x of ${cx}`)
      assert.ok(Number(cy) >= 44 && Number(cy) <= 336, `y of ${cy}`)
    }
  })
})
