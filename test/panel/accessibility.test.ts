import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { needs } from '../support/requirements.ts'
import { assertAccessible } from './support/audit.ts'
import { openPage } from './support/browser.ts'
import { addDevice, deviceRow, isFocused, openPanel } from './support/panel.ts'
import { walkThroughPanel } from './support/walk.ts'

describe('the panel is readable and has names for everything', needs('chromium'), () => {
  it('in Chinese', async (t) => {
    const { page, pairPhone, assertCalm } = await openPanel(t, { browser: { locale: 'zh-CN' } })
    await page.getByText('还没有设备').waitFor()
    const phone = await pairPhone('小米')
    await phone.pushText('一')
    await deviceRow(page, '小米').getByText('刚刚').waitFor()
    await page.getByText('字节').first().waitFor()
    await assertAccessible(page)
    assert.equal(await page.evaluate('document.documentElement.lang'), 'zh-CN')
    const text = await page.locator('main').innerText()
    assert.doesNotMatch(text, /\b(?:the|a|device|item|sharing|send|seen|byte|bytes)\b/i)
    await page.getByRole('button', { name: '添加设备' }).click()
    await page.getByRole('dialog').getByLabel('名称').waitFor()
    await assertAccessible(page)
    assertCalm()
  })

  for (const [colorScheme, width] of [
    ['light', 320],
    ['dark', 1120],
  ] as const) {
    it(`in ${colorScheme}, ${width} pixels wide, whatever it shows`, async (t) => {
      const viewport = { width, height: 800 }
      const { page, assertCalm } = await openPage({ colorScheme, viewport })
      t.after(() => page.context().close())
      await walkThroughPanel(page, async (state) => {
        await assertAccessible(page, state)
        if (state !== 'overview') return
        await page.evaluate(
          `for (const one of document.querySelectorAll('details')) one.open = true`,
        )
        await assertAccessible(page, 'everything opened')
      })
      assertCalm()
    })
  }

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
    await assertAccessible(page)
    assert.equal(await isFocused(started), true)
    assert.equal(await exact.isVisible(), true)

    const name = 'A phone with quite a long name, as some people like to give them'
    const dialog = await addDevice(page, name)
    await assertAccessible(page)
    const spinner = dialog.locator('.spinner')
    assert.equal(await spinner.evaluate((one) => one.getAnimations().length), 0)
  })
})
