/**
 * Makes the pictures in `docs/images/`: each state of the panel in light, dark and narrow.
 * @module
 */

import { fileURLToPath } from 'node:url'
import type { BrowserContextOptions } from 'playwright-core'
import { closeBrowser, openPage } from './support/browser.ts'
import { walkThroughPanel, type Visit } from './support/walk.ts'

const FOLDER = fileURLToPath(new URL('../../docs/images/', import.meta.url))

const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light', viewport: { width: 1040, height: 720 } },
  dark: { colorScheme: 'dark', viewport: { width: 1040, height: 720 } },
  narrow: { colorScheme: 'light', viewport: { width: 360, height: 720 } },
}

async function shootAll(look: string, options: BrowserContextOptions): Promise<void> {
  const { page } = await openPage({ ...options, locale: 'en-GB', timezoneId: 'UTC' })
  const shoot: Visit = async (name, part = 'window') => {
    // Nothing should look as if the mouse were there.
    await page.mouse.move(0, 0)
    if ((await page.getByRole('dialog').count()) === 0) await page.evaluate('scrollTo(0, 0)')
    const path = `${FOLDER}${name}-${look}.png`
    const fullPage = part === 'page'
    await page.screenshot({ path, fullPage, animations: 'disabled', caret: 'hide' })
  }
  await walkThroughPanel(page, shoot)
  await page.context().close()
}

for (const [look, options] of Object.entries(LOOKS)) await shootAll(look, options)
await closeBrowser()
