/**
 * Makes the moving picture of README.md and its still: what is copied on a computer is on the page
 * of the phone, is tapped, and pasted. The daemon, the copy, the page and the paste are real; the
 * frames of computer and phone are drawn.
 * @module
 */

import { writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { xclipCopy } from '../desktop/x11/support/xclip.ts'
import { openPage } from '../panel/support/browser.ts'
import { Xvfb } from '../support/xvfb.ts'
import { animate, type Frame } from './support/animate.ts'
import { openPhonePage } from './support/phone-page.ts'

const FOLDER = process.env['SHOTS'] ?? fileURLToPath(new URL('../../docs/images/', import.meta.url))

const TEXT = 'Platform 4, 17:42. Bring the tickets!'

const SCREEN = { width: 300, height: 336 }

const STAGE = { width: 760, height: 376 }

/** Gives the computer a name that is the same wherever the picture is made. */
const NAMED = `for (const element of document.querySelectorAll('h1, .note')) {
  element.textContent = element.textContent.replace(${JSON.stringify(hostname().split('.')[0])}, 'desk')
}`

/** The computer on the left, the phone on the right. */
const STAGE_PAGE = `<!doctype html><meta charset="utf-8"><style>
* { box-sizing: border-box }
body { margin: 0; background: #e4e7e4; font: 17px/1.5 system-ui, sans-serif; color: #1c1c1a }
#desk { position: absolute; left: 28px; top: 48px; width: 360px; height: 280px;
  background: #fff; border-radius: 10px; box-shadow: 0 2px 14px #0003 }
#bar { padding: 8px 16px; color: #5b594f; border-bottom: 1px solid #ddd; font-size: 15px }
#bar::before { content: '● ● ●'; color: #c9c7bf; letter-spacing: 2px; margin-right: 14px }
p { margin: 14px 16px }
#desk.selected b { background: #9fd3c7 }
b { font-weight: 400 }
#keys { position: absolute; left: 120px; bottom: 26px; visibility: hidden }
#keys.pressed { visibility: visible }
kbd { font: 600 18px system-ui, sans-serif; padding: 8px 16px; border-radius: 8px;
  background: #1c1c1a; color: #fff }
#phone { position: absolute; left: 424px; top: 10px; padding: 10px; background: #1c1c1a;
  border-radius: 26px }
#phone img { display: block; width: ${SCREEN.width}px; height: ${SCREEN.height}px;
  border-radius: 18px }
#tap { position: absolute; width: 46px; height: 46px; margin: -13px; border-radius: 50%;
  background: #f59e0baa; border: 3px solid #b45309; visibility: hidden }
</style>
<div id="desk"><div id="bar">Notes</div><p>Friday</p><p><b>${TEXT}</b></p><p>Call Ann about the keys.</p>
<div id="keys"><kbd>Ctrl</kbd> + <kbd>C</kbd></div></div>
<div id="phone"><img><div id="tap"></div></div>`

/** Another app of the phone. */
const CHAT_PAGE = `<!doctype html><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><style>
body { margin: 0; height: 100vh; display: flex; flex-direction: column; background: #eef1ee;
  font: 16px/1.5 system-ui, sans-serif; color: #1c1c1a }
h1 { margin: 0; padding: 14px 18px; font-size: 17px; background: #fff }
p { margin: 16px 18px; padding: 9px 14px; background: #fff; border-radius: 14px;
  align-self: flex-start }
textarea { margin: auto 12px 14px; padding: 10px 14px; height: 74px; font: inherit; border-radius: 16px;
  border: 2px solid #0d6e5f; outline: none; resize: none }
</style><h1>Ann</h1><p>Which train?</p><textarea placeholder="Message"></textarea>`

it('the moving picture of README.md', async (t) => {
  const { display } = await Xvfb.start(t)
  const look = { viewport: SCREEN, deviceScaleFactor: 2, locale: 'en-GB' }
  const desktop = { args: ['--clipboard', 'x11'], env: { DISPLAY: display } }
  const { page } = await openPhonePage(t, { ...look, colorScheme: 'light' }, desktop)
  const { page: stage } = await openPage({ viewport: STAGE, deviceScaleFactor: 1.5 })
  t.after(() => stage.context().close())
  await stage.setContent(STAGE_PAGE)

  const frames: Frame[] = []
  const shoot = async (phone: Page, ms: number): Promise<void> => {
    await phone.evaluate(NAMED)
    const screen = await phone.screenshot({ animations: 'disabled', caret: 'hide' })
    const source = JSON.stringify(`data:image/png;base64,${screen.toString('base64')}`)
    await stage.evaluate(
      `(image => { image.src = ${source}; return image.decode() })(document.images[0])`,
    )
    frames.push({ png: await stage.screenshot(), ms })
  }
  /** Puts the finger on the middle of an element, or takes it away. */
  const touch = async (selector?: string): Promise<void> => {
    const box = selector === undefined ? null : await page.locator(selector).first().boundingBox()
    const [x, y] = box === null ? [0, 0] : [box.x + box.width / 2, box.y + box.height / 2]
    const style = `left:${x}px;top:${y}px;visibility:${box === null ? 'hidden' : 'visible'}`
    await stage.evaluate(`document.getElementById('tap').style.cssText = '${style}'`)
  }
  const mark = (id: string, name: string) =>
    stage.evaluate(`document.getElementById('${id}').classList.toggle('${name}')`)

  await xclipCopy(t, display, 'Milk, bread, two lemons')
  await page.getByText('Milk, bread').waitFor()
  await shoot(page, 900)
  await mark('desk', 'selected')
  await shoot(page, 500)
  await mark('keys', 'pressed')
  await shoot(page, 400)
  await xclipCopy(t, display, TEXT)
  await page.getByText('Platform 4').waitFor()
  await shoot(page, 1100)
  const still = frames.at(-1)?.png ?? Buffer.alloc(0)
  await mark('keys', 'pressed')
  await touch('.item button')
  await shoot(page, 500)
  await page.getByRole('button', { name: 'Copy' }).click()
  await page.getByText('Copied').waitFor()
  await touch()
  await shoot(page, 700)
  const chat = await page.context().newPage()
  await chat.setContent(CHAT_PAGE)
  await chat.bringToFront()
  await shoot(chat, 700)
  await chat.locator('textarea').focus()
  await chat.keyboard.press('Control+V')
  await chat.waitForFunction(`document.querySelector('textarea').value !== ''`)
  await shoot(chat, 1200)

  await writeFile(`${FOLDER}copy-paste.png`, await animate(frames))
  await writeFile(`${FOLDER}copy-paste-still.png`, still)
})
