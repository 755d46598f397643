import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseDisplay } from '../../../src/desktop/x11/x-handshake.ts'
import fc, { forAll } from '../../support/property.ts'

describe('parseDisplay()', () => {
  it('finds the socket of a local display', () => {
    for (const display of [':7', ':7.0', 'unix:7', 'unix/:7', 'local/:7.1', ':007']) {
      assert.deepEqual(parseDisplay(display), { path: '/tmp/.X11-unix/X7' }, display)
    }
  })

  it('finds the port of a display elsewhere', () => {
    assert.deepEqual(parseDisplay('localhost:10.0'), { host: 'localhost', port: 6010 })
    assert.deepEqual(parseDisplay('tcp/desk.example:0'), { host: 'desk.example', port: 6000 })
    assert.deepEqual(parseDisplay('tcp/:1'), { host: 'localhost', port: 6001 })
    assert.deepEqual(parseDisplay('[::1]:2'), { host: '::1', port: 6002 })
  })

  it('takes a path as it is', () => {
    const path = '/private/tmp/com.apple.launchd.x/org.xquartz:0'
    assert.deepEqual(parseDisplay(path), { path })
  })

  it('refuses everything else, and never throws', () => {
    for (const display of ['', ':', '7', ':x', 'host:', ':123456', 'host:59536', '/tmp/x']) {
      assert.equal(parseDisplay(display), undefined, display)
    }
    forAll(fc.string(), (text) => void parseDisplay(text))
  })
})
