import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RememberedRecords, type KeptRecord } from '../../src/gateway/remembered-records.ts'
import { encodeRecord } from '../../src/gateway/wire/history.ts'

function record(hash: string, text = ''): KeptRecord {
  const subject = { type: 'Text', text, size: text.length, activatedAt: 0 } as const
  return { record: encodeRecord(subject, hash), bytes: undefined }
}

describe('remembered records', () => {
  it('are found by the device that sent them, by type and by hash in any letter case', () => {
    const records = new RememberedRecords()
    records.remember('did_a', record('AB', 'one'))
    assert.equal(records.find('did_a', { type: 'Text', hash: 'aB' })?.record.text, 'one')
    assert.equal(records.find('did_a', { type: 'File', hash: 'AB' }), undefined)
    assert.equal(records.find('did_b', { type: 'Text', hash: 'AB' }), undefined)
    records.remember('did_a', record('ab', 'two'))
    assert.equal(records.find('did_a', { type: 'Text', hash: 'AB' })?.record.text, 'two')
  })

  it('are forgotten, oldest first, before they take more than some megabytes', () => {
    const records = new RememberedRecords()
    const text = 'x'.repeat(100_000)
    for (let index = 0; index < 1000; index++) records.remember('did_a', record(`${index}`, text))
    const kept = Array.from({ length: 1000 }, (_, index) => `${index}`).filter(
      (hash) => records.find('did_a', { type: 'Text', hash }) !== undefined,
    )
    assert.equal(kept.at(-1), '999')
    assert.ok(kept.length >= 5 && kept.length <= 10, `${kept.length} are kept`)
    assert.equal(kept[0], String(1000 - kept.length))
  })

  it('of a device that sends thousands take none of those of another one', () => {
    const records = new RememberedRecords()
    records.remember('did_b', record('ab', 'kept'))
    for (let index = 0; index < 5000; index++) records.remember('did_a', record(`${index}`))
    assert.equal(records.find('did_b', { type: 'Text', hash: 'ab' })?.record.text, 'kept')
    assert.equal(records.find('did_a', { type: 'Text', hash: '4999' })?.record.hash, '4999')
  })

  it('of a device that is shut out are forgotten, and give back their place', () => {
    const records = new RememberedRecords()
    const text = 'x'.repeat(500_000)
    records.remember('did_b', record('ab', text))
    records.remember('did_a', record('ab', text))
    records.forget('did_a')
    assert.equal(records.find('did_a', { type: 'Text', hash: 'ab' }), undefined)
    records.remember('did_c', record('ab', text))
    for (const id of ['did_b', 'did_c']) {
      assert.equal(records.find(id, { type: 'Text', hash: 'ab' })?.record.text, text, id)
    }
  })

  it("are kept with the beginning of a text that is too long, and take nobody's place", () => {
    const records = new RememberedRecords()
    records.remember('did_a', record('ab', 'kept'))
    records.remember('did_a', record('cd', 'short'))
    const text = 'x'.repeat(2 ** 21)
    records.remember('did_a', record('cd', text))
    const kept = records.find('did_a', { type: 'Text', hash: 'cd' })?.record
    assert.deepEqual([kept?.size, kept?.hash], [2 ** 21, 'cd'])
    assert.ok(kept !== undefined && kept.text !== '' && text.startsWith(kept.text))
    assert.ok(kept.text.length < 10_000, `${kept.text.length} characters`)
    assert.equal(records.find('did_a', { type: 'Text', hash: 'ab' })?.record.text, 'kept')
  })

  it('of a device stay with its newest, however long the texts of the others are', () => {
    const records = new RememberedRecords()
    const ids = ['did_a', 'did_b', 'did_c', 'did_d']
    for (const [index, id] of ids.entries()) {
      records.remember(id, record(`old${index}`, 'old'))
      records.remember(id, record('ab', 'x'.repeat(900_000 + index)))
    }
    for (const [index, id] of ids.entries()) {
      const kept = records.find(id, { type: 'Text', hash: 'ab' })?.record
      assert.equal(kept?.size, 900_000 + index, id)
    }
  })

  it('are forgotten even where each is the only one of its device', () => {
    const records = new RememberedRecords()
    const text = 'x'.repeat(100_000)
    for (let index = 0; index < 5000; index++) records.remember(`did_${index}`, record('a', text))
    const kept = Array.from({ length: 5000 }, (_, index) => `did_${index}`).flatMap(
      (id) => records.find(id, { type: 'Text', hash: 'a' })?.record.text ?? [],
    )
    assert.ok(kept.join('').length <= 2 ** 20, `${kept.join('').length} characters`)
    assert.ok(kept.length > 100 && kept.length < 1000, `${kept.length} are kept`)
  })
})
