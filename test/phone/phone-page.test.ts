import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { parseConnectLink } from '../../src/link/connect-link.ts'
import { INSECURE_HOST, openPage } from '../panel/support/browser.ts'
import { restart, startDaemon } from '../panel/support/panel.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { addressOf, openPhonePage } from './support/phone-page.ts'

const NAME_OF_FOCUSED = `{
  const { ariaLabel, labels, textContent } = document.activeElement
  ariaLabel ?? labels?.[0]?.textContent ?? textContent
}`

/** Drops a file, and notes what is sent. */
const DROP = `{
  globalThis.puts = []
  const { open } = XMLHttpRequest.prototype
  XMLHttpRequest.prototype.open = function (method, url) {
    puts.push(new URL(url).pathname)
    return open.call(this, method, url)
  }
  const dataTransfer = new DataTransfer()
  dataTransfer.items.add(new File(['x'], 'dropped.txt'))
  document.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
}`

describe('the phone page', needs('chromium'), () => {
  // Protocol: opens the [phone page]
  it('takes the credentials out of its address, and keeps them over a reload', async (t) => {
    const { page, address, assertCalm } = await openPhonePage(t)
    assert.equal(await page.evaluate('isSecureContext'), false)
    assert.equal(page.url(), address.split('#')[0])
    await page.reload()
    await page.locator('[data-way=live]').waitFor()
    // Some put a slash behind a path.
    await page.evaluate('localStorage.clear()')
    await page.goto('about:blank')
    await page.goto(address.replace('/phone#', '/phone/#'))
    await page.locator('[data-way=live]').waitFor()
    assert.equal(page.url(), address.split('#')[0])
    assertCalm()
  })

  it('says what to do where its script was lost on the way, and has its credentials then', async (t) => {
    const { daemon } = await openPhonePage(t)
    const address = addressOf(await daemon.pair('Late'), daemon.ready.gateway)
    const { page, assertCalm } = await openPage()
    t.after(() => page.context().close())
    await page.route('**/phone.js', (route) => route.abort('internetdisconnected'))
    await page.goto(address)
    const words = page.getByText('If it stays so, reload it')
    assert.equal(await words.isVisible(), false)
    await page.evaluate('document.getAnimations().forEach((one) => one.finish())')
    assert.equal(await words.isVisible(), true)
    await page.unroute('**/phone.js')
    await page.reload()
    await page.locator('[data-way=live]').waitFor()
    assert.equal(await words.count(), 0)
    assertCalm()
  })

  it('stays signed in, and comes back so, where the browser keeps nothing for pages', async (t) => {
    const { page, address, other, assertCalm } = await openPhonePage(t)
    await page.addInitScript(
      `Object.defineProperty(window, 'localStorage', { get: () => { throw new DOMException('') } })`,
    )
    await page.goto('about:blank')
    await page.goto(address)
    await page.locator('[data-way=live]').waitFor()
    await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`)
    await other.pushText('still here')
    await page.getByText('still here').waitFor()
    assertCalm()
  })

  it('is where the bare address leads, and says there what to do on the computer', async (t) => {
    const { ready } = await startDaemon(t)
    for (const [locale, words] of [
      ['en', 'choose “Add a device” (or run “clipgate pair”)'],
      ['zh-CN', '选择“添加设备”（或运行“clipgate pair”）'],
    ] as const) {
      const { page, assertCalm } = await openPage({ locale })
      t.after(() => page.context().close())
      await page.goto(ready.gateway, { waitUntil: 'commit' })
      await page.getByText(words).waitFor()
      assert.equal(page.url(), `${ready.gateway}/phone`)
      assert.equal(await page.locator('[data-way=forgotten]').count(), 1)
      assertCalm()
    }
  })

  it('shows what others copy at once, and copies it', async (t) => {
    const { page, other, assertCalm } = await openPhonePage(t)
    await page.getByText('Nothing there yet').waitFor()
    await other.pushText('first <b>line</b>\nsecond')
    await page.getByText('first <b>line</b>').waitFor()
    await page.getByRole('button', { name: 'Copy' }).tap()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const field = page.getByRole('textbox')
    await field.focus()
    await page.keyboard.press('Control+V')
    assert.equal(await field.inputValue(), 'first <b>line</b>\nsecond')
    assertCalm()
  })

  it('shows a picture, and lets the browser save the bytes of any item by itself', async (t) => {
    const { page, other, assertCalm } = await openPhonePage(t)
    const png = await readFile(new URL('../../docs/images/away-dark.png', import.meta.url))
    await other.pushFile('Image', 'shot.png', png)
    await page.getByRole('img', { name: 'The image on the clipboard' }).waitFor()
    const started = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Save' }).tap()
    const download = await started
    assert.equal(download.suggestedFilename(), 'shot.png')
    assert.deepEqual(await readFile(await download.path()), png)
    assertCalm()
  })

  it('saves what was sent once more, and what was there before the daemon was started again', async (t) => {
    const { page, daemon, device, other, assertCalm } = await openPhonePage(t)
    const film = Buffer.alloc(100_000, 'f')
    await other.pushFile('File', 'film.mp4', film)
    const save = page.getByRole('link', { name: 'Save' })
    const saved = async () => {
      const started = page.waitForEvent('download')
      await save.tap()
      const download = await started
      assert.equal(await download.failure(), null)
      return readFile(await download.path())
    }
    const first = await save.getAttribute('href')
    await createPhone(device, daemon.ready.gateway).pushFile('File', 'film.mp4', film)
    await page.locator(`.item a:not([href='${first}'])`).waitFor()
    assert.deepEqual(await saved(), film)

    await daemon.stop()
    await page.locator('[data-way=away]').waitFor()
    await restart(t, daemon)
    await page.locator('[data-way=live]').waitFor()
    assert.deepEqual(await saved(), film)
    assertCalm()

    // The page does not hear of it in time.
    await page.route('**/Sync.json', () => {})
    await page.evaluate('Date.now = () => 4e12')
    await other.pushFile('File', 'newer.bin', Buffer.from('newer'))
    await save.tap()
    await page.getByText('Something newer is on the clipboard.').waitFor()
  })

  it('copies a picture that was there before the daemon was started again', async (t) => {
    const { page, daemon, other, address } = await openPhonePage(t)
    const png = await readFile(new URL('../../docs/images/away-dark.png', import.meta.url))
    await other.pushFile('Image', 'shot.png', png)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    // Where browsers let pages copy pictures.
    await page.goto(address.replace(INSECURE_HOST, '127.0.0.1'))
    const copy = page.getByRole('button', { name: 'Copy image' })
    const note = page.locator('.item').getByRole('status').filter({ hasText: /./ })
    await copy.waitFor()
    await daemon.stop()
    await page.locator('[data-way=away]').waitFor()
    await restart(t, daemon)
    await page.locator('[data-way=live]').waitFor()
    await copy.tap()
    assert.equal(await note.textContent(), 'Copied')
  })

  it('stays who it is when somebody makes up a code, becomes another by a good one, and keeps nothing when it was removed', async (t) => {
    const { page, daemon, device, other, address } = await openPhonePage(t)
    const kept = () => page.evaluate<string>(`localStorage.getItem('clipgate.phone')`)
    await page.goto(`${address.split('#')[0]}#nobody:wrong`)
    await page.locator('[data-way=live]').waitFor()
    await other.pushText('still here')
    await page.getByText('still here').waitFor()
    assert.equal(JSON.parse(await kept()).user, device.username)

    const second = await daemon.pair('The same phone')
    const accepted = page.waitForResponse((response) => response.url().endsWith('/Sync.json'))
    await page.goto(addressOf(second, daemon.ready.gateway))
    assert.equal((await accepted).status(), 200)
    await page.locator('[data-way=live]').waitFor()
    assert.equal(JSON.parse(await kept()).user, second.username)
    await page.getByText('still here').waitFor()
    // What is dropped there is sent once, by the account that the page has now.
    await page.evaluate(DROP)
    await page.getByText('Sent', { exact: true }).waitFor()
    assert.deepEqual(await page.evaluate('puts'), ['/file/dropped.txt'])
    await daemon.run('revoke', second.id)
    await page.getByText('This phone was disconnected').waitFor()
    assert.equal(await page.getByText('still here').count(), 0)
    assert.equal(await page.evaluate('localStorage.length'), 0)
  })

  it('says that the daemon is away, and gets well by itself', async (t) => {
    const { page, daemon, other } = await openPhonePage(t)
    await other.pushText('before')
    await page.getByText('before').waitFor()
    await daemon.stop()
    await page.locator('[data-way=away]').waitFor()
    await page.getByText('The computer does not answer').waitFor()
    await restart(t, daemon)
    await page.locator('[data-way=live]').waitFor()
    await page.getByText('before').waitFor()
  })

  it('knows at once that its own network is gone, and forgets this phone after two taps', async (t) => {
    const { page, other } = await openPhonePage(t)
    await page.context().setOffline(true)
    await page.locator('[data-way=away]').waitFor()
    await other.pushText('meanwhile')
    await page.context().setOffline(false)
    await page.getByText('meanwhile').waitFor()

    const tab = await page.context().newPage()
    await tab.goto(page.url())
    await tab.locator('[data-way=live]').waitFor()
    await tab.getByRole('textbox').fill('half a thought')
    await page.getByRole('button', { name: 'Sign out on this phone' }).tap()
    await page.getByRole('button', { name: 'Tap again' }).tap()
    await page.getByText('Nothing is left in this browser').waitFor()
    await tab.getByText('Connect this phone').waitFor()
    assert.equal(await tab.getByText('meanwhile').count(), 0)
    assert.equal(await tab.getByRole('textbox').inputValue(), 'half a thought')
    assert.equal(await page.evaluate('localStorage.length'), 0)
    await page.reload()
    await page.getByText('Connect this phone').waitFor()
  })

  it('speaks Chinese to those who do', async (t) => {
    const { page, other } = await openPhonePage(t, { locale: 'zh-CN' })
    await page.getByText('还没有内容').waitFor()
    await other.pushFile('File', 'report.pdf', Buffer.alloc(2048, 'x'))
    await page.getByText('文件，2.0 KiB', { exact: true }).waitFor()
    assert.equal(await page.evaluate('document.documentElement.lang'), 'zh-CN')
  })

  it('hands its credentials to apps, and nothing of them to anybody else', async (t) => {
    const { page, device } = await openPhonePage(t)
    await page.getByText('Use another app').tap()
    const [clip = '', uniclipboard] = await Promise.all(
      (await page.getByRole('link').all()).map(async (link) => await link.getAttribute('href')),
    )
    const { url, user, pwd } = parseConnectLink(clip ?? '')
    assert.equal(url, new URL(page.url()).origin)
    assert.deepEqual([user, pwd], [device.username, device.password])
    assert.equal(uniclipboard, clip?.replace('clip:', 'uniclipboard:'))
    assert.equal(await page.evaluate('history.state'), null)
    assert.equal(await page.evaluate('document.cookie'), '')
    assert.ok(!(await page.content()).includes(device.password))
  })

  it('opens with the short form of a code, too, and says so when it can read neither', async (t) => {
    const { page, address, device } = await openPhonePage(t)
    await page.evaluate('localStorage.clear()')
    const [place = ''] = address.split('#')
    await page.goto('about:blank')
    await page.goto(`${place}#${device.username}:${encodeURIComponent(device.password)}`)
    await page.locator('[data-way=live]').waitFor()
    for (const damaged of ['e30', '%', 'name:', 'a b']) {
      await page.evaluate('localStorage.clear()')
      await page.goto('about:blank')
      await page.goto(`${place}#${damaged}`)
      await page.getByText('This code cannot be read').waitFor()
      assert.equal(page.url(), place)
    }
  })

  it('says that a copy failed when it did, and shows what to copy', async (t) => {
    const { page, other } = await openPhonePage(t)
    await page.evaluate('document.execCommand = () => false')
    await other.pushText('not to be had')
    await page.getByRole('button', { name: 'Copy' }).tap()
    await page.getByText('This browser did not copy it').waitFor()
    assert.equal(await page.evaluate('getSelection().toString()'), 'not to be had')
    assert.equal(await page.getByRole('button', { name: 'Copied' }).count(), 0)
  })

  it('needs no more than 320 px, and no mouse', async (t) => {
    const viewport = { width: 320, height: 568 }
    const { page, other } = await openPhonePage(t, { viewport, hasTouch: false, isMobile: false })
    const wide = 'W'.repeat(300)
    for (const type of ['Text', 'File'] as const) {
      if (type === 'Text') await other.pushText(wide)
      else await other.pushFile('File', `${wide.slice(0, 200)}.bin`, Buffer.from('x'))
      await page.getByText(wide.slice(0, 200)).first().waitFor()
      const width = await page.evaluate('document.documentElement.scrollWidth')
      assert.equal(width, viewport.width)
    }
    const reached: string[] = []
    for (let presses = 0; presses < 12; presses++) {
      await page.keyboard.press('Tab')
      reached.push(await page.evaluate(NAME_OF_FOCUSED))
    }
    await other.pushText('a line\n'.repeat(200))
    await page.getByText('a line').waitFor()
    await page.getByRole('button', { name: 'Copy' }).focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('End')
    const scrolled = `document.activeElement.matches('pre') && document.activeElement.scrollTop > 0`
    while (!(await page.evaluate(scrolled)));
    for (const name of ['Save', 'Type or paste here', 'Send', 'Photos, files', 'Camera']) {
      assert.ok(reached.includes(name), `${name}: ${reached}`)
    }
    assert.ok(reached.includes('Use another app') && reached.includes('Sign out on this phone'))
    await page.getByRole('textbox').focus()
    await page.keyboard.type('typed')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await other.reads({ text: 'typed' })
  })
})
