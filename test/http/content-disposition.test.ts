import assert from 'node:assert/strict'
import { validateHeaderValue } from 'node:http'
import { describe, it } from 'node:test'
import { attachment } from '../../src/http/content-disposition.ts'
import fc from '../support/property.ts'

describe('Content-Disposition', () => {
  it('names plain names plainly', () => {
    assert.equal(attachment('report 1.pdf'), 'attachment; filename="report 1.pdf"')
  })

  it('names all others twice: as well as ASCII can, and whole', () => {
    assert.equal(
      attachment('Übersicht.pdf'),
      `attachment; filename="_bersicht.pdf"; filename*=UTF-8''%C3%9Cbersicht.pdf`,
    )
    assert.equal(attachment('a"b\\c'), `attachment; filename="a_b_c"; filename*=UTF-8''a%22b%5Cc`)
    assert.equal(attachment('😀'), `attachment; filename="_"; filename*=UTF-8''%F0%9F%98%80`)
  })

  it('is one header, from which any name can be read back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const value = attachment(name)
        validateHeaderValue('Content-Disposition', value)
        const [, extended] = value.split("filename*=UTF-8''")
        const [, plain] = /filename="([^"]*)"/.exec(value) ?? []
        const named = extended === undefined ? plain : decodeURIComponent(extended)
        assert.equal(named, name.toWellFormed())
      }),
    )
  })
})
