import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { describe, it } from 'node:test'
import { needs } from '../support/requirements.ts'
import { openWithPhone } from './support/panel.ts'
import { MIB } from '../../src/core/limits.ts'

describe('a file on its way', needs('chromium'), () => {
  it('is shown in the panel, with how far it is, until it is there', async (t) => {
    const { panel, phone } = await openWithPhone(t)
    const onTheWay = panel.page.getByRole('region', { name: 'On the way' })
    assert.equal(await onTheWay.isVisible(), false)
    const upload = httpRequest(new URL('/file/film.mp4', panel.daemon.ready.gateway), {
      method: 'PUT',
      headers: { authorization: phone.authorization, 'content-length': 32 * MIB },
      agent: false,
    })
    t.after(() => upload.destroy())
    upload.write(Buffer.alloc(8 * MIB))
    await onTheWay.getByRole('heading', { name: 'film.mp4' }).waitFor()
    await onTheWay.getByText('from Pixel').waitFor()
    // Nothing else has changed: it looks again by itself.
    await onTheWay.getByText('8.0 MiB of 32 MiB').waitFor()
    upload.write(Buffer.alloc(16 * MIB))
    await onTheWay.getByText('24 MiB of 32 MiB').waitFor()
    assert.equal(await onTheWay.getByRole('progressbar', { name: 'film.mp4' }).count(), 1)
    upload.end(Buffer.alloc(8 * MIB))
    await onTheWay.waitFor({ state: 'hidden' })
    panel.assertCalm()
  })
})
