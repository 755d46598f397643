import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseConnectLink, redactLink, REDACTED, type ParsedLink } from '../../src/link.ts'
import fc, { forAll } from '../support/property.ts'
import { jsonOf, linkAround, PAYLOAD } from './support/payloads.ts'

const link: ParsedLink = { v: 1, ...PAYLOAD }

describe('redactLink()', () => {
  it('shows everything but the password', () => {
    const o = { did: 'd-1', install: 'https://h/i', label: 'Pixel 9', proto: 'syncclipboard' }
    assert.deepEqual(redactLink({ ...link, o }), { ...link, pwd: REDACTED, o })
    assert.deepEqual(redactLink(link), { ...link, pwd: REDACTED })
  })

  it('shows passwords of all lengths alike', () => {
    const views = ['§', 'x'.repeat(256)].map((pwd) => JSON.stringify(redactLink({ ...link, pwd })))
    assert.equal(views[0], views[1])
  })

  it('leaves out metadata that it does not know: a later version has secrets there', () => {
    const o = { label: 'Pixel 9', token: 'one-time-secret' }
    assert.deepEqual(redactLink({ ...link, o }).o, { label: 'Pixel 9' })
  })

  it('leaves out credentials that stand in the url', () => {
    const { url } = redactLink({ ...link, url: 'https://me:secret@h:1/@path' })
    assert.equal(url, `https://${REDACTED}@h:1/@path`)
  })

  it('shows no value that repeats the password', () => {
    const pwd = 'phone_1'
    const view = redactLink({ ...link, pwd, url: `http://h/${pwd}`, o: { label: `of ${pwd}!` } })
    const { o, url, user } = view
    assert.deepEqual([url, user, o?.['label']], [REDACTED, REDACTED, REDACTED])
  })

  it('never contains the password, and is plain JSON', () => {
    const secrets = fc.stringMatching(/^[A-Za-z0-9_-]{22}$/)
    const texts = fc.string({ unit: 'binary' })
    forAll(secrets, texts, texts, fc.dictionary(texts, texts), (pwd, a, b, more) => {
      const o = { ...more, label: a + pwd + b, did: pwd, [pwd]: a, token: pwd }
      const url = `http://${a}${pwd}@${b}`
      const json = JSON.stringify({ ...JSON.parse(jsonOf({ url, user: a + pwd, pwd })), o })
      const view = redactLink(parseConnectLink(linkAround(json)))
      assert.ok(!JSON.stringify(view).includes(pwd))
      assert.deepEqual(JSON.parse(JSON.stringify(view)), view)
    })
  })
})
