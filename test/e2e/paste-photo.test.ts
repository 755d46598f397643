import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { chromium } from 'playwright-core'
import { isolatedEnvironment, startDaemonProcess } from '../support/daemon-process.ts'
import { listen } from '../support/listen.ts'
import { needs } from '../support/requirements.ts'
import { Sway, SWAY_TOOLS } from '../support/sway.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Xvfb } from '../support/xvfb.ts'

const FIXTURES = new URL('../../fixtures/', import.meta.url)

/** What a page gets that is pasted into: the type and the size, or what went wrong. */
const PASTE = `(async () => {
  try {
    const [item] = await navigator.clipboard.read()
    const bitmap = await createImageBitmap(await item.getType('image/png'))
    return ['image/png', bitmap.width, bitmap.height].join(' ')
  } catch (error) {
    return String(error)
  }
})()`

async function pastesPhotos(
  t: TestContext,
  desktop: NodeJS.ProcessEnv,
  platform: 'x11' | 'wayland',
): Promise<void> {
  const daemon = await startDaemonProcess(t, { devices: ['Phone'], env: desktop })
  const phone = await daemon.phone()
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end('<title>A document</title>')
  })
  const url = `http://127.0.0.1:${await listen(t, server)}/`
  const env = isolatedEnvironment(await temporaryFolder(t), desktop)
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    // One without a window has a clipboard of its own.
    headless: false,
    args: [`--ozone-platform=${platform}`, '--no-sandbox', '--disable-gpu', '--no-first-run'],
    env: env as Record<string, string>,
  })
  t.after(() => browser.close())
  const context = await browser.newContext({ permissions: ['clipboard-read'] })
  const page = await context.newPage()
  await page.goto(url)
  for (const [name, size] of [
    ['photos/lying.jpg', '8 16'],
    ['images/rgb.webp', '37 29'],
    ['photos/lying.jpg', '8 16'],
    ['images/rgb-progressive.jpg', '37 29'],
  ] as const) {
    const bytes = await readFile(new URL(name, FIXTURES))
    await phone.pushFile('Image', name.slice(name.indexOf('/') + 1), bytes)
    // It is offered a moment after the answer to the push.
    let pasted = ''
    while (pasted !== `image/png ${size}`) pasted = String(await page.evaluate(PASTE))
  }
  assert.doesNotMatch(daemon.stderr(), /error|Could not/)
}

describe('a photo that a phone pushed', () => {
  it(
    'is pasted into Chromium on X11, whatever kind it is',
    needs('chromium', 'Xvfb'),
    async (t) => {
      const { display } = await Xvfb.start(t)
      await pastesPhotos(t, { DISPLAY: display }, 'x11')
    },
  )

  it('is pasted into Chromium on Wayland', needs('chromium', ...SWAY_TOOLS), async (t) => {
    const { env } = await Sway.start(t)
    await pastesPhotos(t, env, 'wayland')
  })
})
