import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countFields, findField, hasDecisiveFields } from '../../src/http/raw-fields.ts'
import fc from '../support/property.ts'

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

const DECISIVE = words(`
  content-encoding content-length expect if-match if-modified-since if-none-match if-range
  if-unmodified-since transfer-encoding upgrade
`)

const HARMLESS = words(`
  accept accept-encoding authorization connection content-type cookie from host if range te
  trailer upgrade-insecure-requests user-agent x-expect
`)

/** A name as somebody may spell it. */
const spelled = (names: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...names), fc.infiniteStream(fc.boolean()))
    .map(([name, capitals]) =>
      [...name]
        .map((letter) => (capitals.next().value === true ? letter.toUpperCase() : letter))
        .join(''),
    )

const fieldsOf = (names: readonly string[]): readonly string[] =>
  names.flatMap((name, index) => [name, `value ${index}`])

describe('header fields as they came', () => {
  it('decide something when any of them does, wherever it stands and however it is spelled', () => {
    const harmless = fc.array(spelled(HARMLESS), { maxLength: 8 })
    fc.assert(
      fc.property(harmless, spelled(DECISIVE), harmless, (before, name, after) => {
        assert.equal(hasDecisiveFields(fieldsOf([...before, ...after])), false, before.join())
        assert.equal(hasDecisiveFields(fieldsOf([...before, name, ...after])), true, name)
      }),
    )
  })

  it('decide nothing by their values', () => {
    assert.equal(hasDecisiveFields(['X-A', 'Transfer-Encoding', 'X-B', 'Content-Length']), false)
  })

  it('are found by name, the first of several, and counted', () => {
    const names = fc.array(spelled(['host', 'hos', 'hosts', 'x-host']), { maxLength: 8 })
    fc.assert(
      fc.property(names, (all) => {
        const fields = fieldsOf(all)
        const places = all.flatMap((name, index) => (/^host$/i.test(name) ? [index] : []))
        assert.equal(countFields(fields, 'host'), places.length)
        const [first] = places
        assert.equal(findField(fields, 'host'), first === undefined ? undefined : `value ${first}`)
      }),
    )
  })
})
