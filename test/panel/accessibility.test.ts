import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { isNight } from '../support/night.ts'
import { needs } from '../support/requirements.ts'
import { addDevice, deviceRow, isFocused, openPanel, type OpenPanel } from './support/panel.ts'

const AUDIT = new URL('./in-page/audit.js', import.meta.url)

/** What somebody may act on: without a name it is "button" and nothing more. */
const CONTROLS = /^(button|textbox|radio|link|dialog|img|region|radiogroup)$/

/** Checks what is on the screen, for eyes and for screen readers. */
async function check(page: Page): Promise<void> {
  const code = (await readFile(AUDIT, 'utf8')).replace('export function', 'function')
  const result = await page.evaluate<{ texts: number; findings: string[] }>(
    `(() => { ${code}; return audit(document.querySelector('dialog') ?? document.body) })()`,
  )
  assert.deepEqual(result.findings, [])
  assert.ok(result.texts > 5, `There are ${result.texts} texts only`)

  const session = await page.context().newCDPSession(page)
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  const controls = nodes.filter(({ ignored, role }) => !ignored && CONTROLS.test(role?.value))
  const nameless = controls.filter(({ name }) => !name?.value).map(({ role }) => role?.value)
  assert.deepEqual(nameless, [])
  assert.ok(controls.length > 0, 'There is nothing to act on')
  await session.detach()
}

/** Walks through what the page can show. */
async function checkAll({ page, daemon, pairPhone }: OpenPanel): Promise<void> {
  await page.getByText('No device yet').waitFor()
  await check(page)
  const phone = await pairPhone('Pixel')
  await phone.pushText('something\nwith lines')
  await page.locator('.preview pre').waitFor()
  await deviceRow(page, 'Pixel').getByText('just now').waitFor()
  await check(page)
  for (const name of ['Add a device', 'New password for Pixel', 'Remove Pixel']) {
    await page.getByRole('button', { name }).click()
    await check(page)
    await page.keyboard.press('Escape')
  }
  await addDevice(page, 'A phone with quite a long name, as some people like to give them')
  await check(page)
  await page.keyboard.press('Escape')
  await daemon.stop()
  await page.getByText('No answer', { exact: true }).waitFor()
  await check(page)
}

describe('the panel is readable and has names for everything', needs('chromium'), () => {
  it('in Chinese', async (t) => {
    const { page, pairPhone, assertCalm } = await openPanel(t, { browser: { locale: 'zh-CN' } })
    await page.getByText('还没有设备').waitFor()
    const phone = await pairPhone('小米')
    await phone.pushText('一')
    await deviceRow(page, '小米').getByText('刚刚').waitFor()
    await page.getByText('字节').first().waitFor()
    await check(page)
    assert.equal(await page.evaluate('document.documentElement.lang'), 'zh-CN')
    const text = await page.locator('main').innerText()
    assert.doesNotMatch(text, /\b(?:the|a|device|item|sharing|send|seen|byte|bytes)\b/i)
    await page.getByRole('button', { name: '添加设备' }).click()
    await page.getByRole('dialog').getByLabel('名称').waitFor()
    await check(page)
    assertCalm()
  })

  // By day each of them once.
  for (const [colorScheme, widths] of [
    ['light', isNight ? [1120, 320] : [320]],
    ['dark', isNight ? [1120, 320] : [1120]],
  ] as const) {
    for (const width of widths) {
      it(`in ${colorScheme}, ${width} pixels wide`, async (t) => {
        const viewport = { width, height: 800 }
        const panel = await openPanel(t, { browser: { colorScheme, viewport } })
        await checkAll(panel)
        panel.assertCalm()
      })
    }
  }

  it('when nobody is signed in', async (t) => {
    const { page } = await openPanel(t)
    await page.evaluate('sessionStorage.clear()')
    await page.reload()
    await page.getByText('clipgate panel', { exact: true }).waitFor()
    await check(page)
  })

  it('with its headings and landmarks in order, and says aloud what changes', async (t) => {
    const { page, daemon, pairPhone } = await openPanel(t)
    assert.equal(await page.getByRole('main').count(), 1)
    assert.equal(await page.getByRole('banner').count(), 1)
    const levels: unknown = await page.evaluate(
      `[...document.querySelectorAll('h1, h2, h3')].filter((one) => one.checkVisibility())
        .map(({ tagName }) => Number(tagName[1]))`,
    )
    assert.ok(Array.isArray(levels) && levels.length > 4, 'There are no headings')
    for (const [index, level] of levels.entries()) {
      assert.ok(level - (levels[index - 1] ?? 0) <= 1, `A level is left out: ${levels}`)
    }

    const status = page.getByRole('status')
    const phone = await pairPhone('Pixel')
    await phone.pushText('hello')
    await status.filter({ hasText: 'New item: Text, 5 bytes' }).waitFor()
    await daemon.stop()
    await status.filter({ hasText: 'clipgate does not answer' }).waitFor()
  })

  it('with the exact time for those who focus an age, and nothing that moves for those who want that', async (t) => {
    const viewport = { width: 320, height: 640 }
    const { page } = await openPanel(t, { browser: { viewport, reducedMotion: 'reduce' } })
    const started = page.getByRole('region', { name: 'This computer' }).getByRole('time')
    const exact = started.locator('.tip')
    assert.equal(await exact.isVisible(), false)
    await started.focus()
    await check(page)
    assert.equal(await isFocused(started), true)
    assert.equal(await exact.isVisible(), true)

    const dialog = await addDevice(page, 'Pixel')
    const spinner = dialog.locator('.spinner')
    assert.equal(await spinner.evaluate((one) => one.getAnimations().length), 0)
  })
})
