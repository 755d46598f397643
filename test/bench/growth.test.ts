import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { describeGrowth, growthOf } from '../../bench/growth/fit.ts'
import { BYTES, DEVICES, growthRow } from '../../bench/growth/growth-row.ts'
import fc, { forAll } from '../support/property.ts'

describe('growthOf()', () => {
  it('finds the line that there is', () => {
    const numbers = [10, 100, 1000, 10_000]
    const cost = fc.double({ min: 0.01, max: 100, noNaN: true })
    forAll(cost, cost, (base, perUnit) => {
      const growth = growthOf(numbers.map((number) => [number, base + perUnit * number]))
      assert.ok(Math.abs(growth.perUnit / perUnit - 1) < 1e-3, JSON.stringify(growth))
      const factor = (base + perUnit * 1e4) / (base + perUnit * 10)
      assert.ok(Math.abs(growth.factor / factor - 1) < 1e-9, JSON.stringify(growth))
    })
  })

  it('does not let the largest number decide alone', () => {
    const { base, perUnit } = growthOf([
      [1, 10],
      [10, 10.9],
      [100, 20],
      [1000, 120],
    ])
    assert.ok(Math.abs(base - 10) < 0.5, `${base}`)
    assert.ok(Math.abs(perUnit - 0.1) < 0.02, `${perUnit}`)
  })
})

describe('describeGrowth()', () => {
  it('tells growth from noise', () => {
    const describe = (last: number): string =>
      describeGrowth(
        growthOf([
          [10, 100],
          [100, 100],
          [1000, last],
        ]),
        'ms',
        'device',
      )
    assert.equal(describe(110), 'does not grow')
    assert.match(describe(1000), /^\d+ ms and 0\.\d+ ms a device$/)
  })
})

describe('growthRow()', () => {
  it('puts the largest beside the smallest, and names those in between', () => {
    const row = growthRow(
      {
        what: 'start',
        unit: 'ms',
        points: [
          [10, 20],
          [1000, 80],
        ],
      },
      DEVICES,
    )
    assert.equal(row.what, 'start, 1 k devices')
    assert.equal(row.baselineName, '10 devices')
    assert.equal(row.ratio?.median, 4)
    assert.match(row.note ?? '', /a device \(10 devices: 20, 1 k devices: 80\)$/)
    assert.equal(row.budget, 'growth')
  })

  it('begins with one device, and is called as one likes', () => {
    const points = [
      [1, 20],
      [1000, 21],
    ] as const
    const row = growthRow({ what: 'login', unit: 'ms', points }, DEVICES, 'auth')
    assert.equal(row.budget, 'auth')
    assert.match(row.note ?? '', /^does not grow \(1 device: 20, 1 k devices: 21\)$/)
  })

  it('tells growth with size by the MiB', () => {
    const points = [
      [1, 1],
      [2 ** 20, 3],
      [2 ** 30, 2049],
    ] as const
    const row = growthRow({ what: 'push', unit: 'ms', points }, BYTES)
    assert.equal(row.what, 'push, 1 GiB')
    assert.match(row.note ?? '', /^1 ms and 2 ms a MiB \(1 B: 1, 1 MiB: 3, 1 GiB: 2\.05 k\)$/)
  })

  it('refuses a cost that was not measured', () => {
    assert.throws(() => growthRow({ what: 'start', unit: 'ms', points: [] }, DEVICES))
  })
})
