import assert from 'node:assert/strict'
import { createReadStream } from 'node:fs'
import { chmod, readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { chromium, devices, type BrowserContext } from 'playwright-core'
import { PROGRAM } from '../support/program.ts'
import { readScreen } from '../cli/support/read-screen.ts'
import { startDaemon } from '../panel/support/panel.ts'
import { isolatedEnvironment, type DaemonProcess } from '../support/daemon-process.ts'
import { layCable, needsMachines, type Machine } from '../support/machines.ts'
import { createPhone } from '../support/phone.ts'
import { temporaryFile, temporaryFolder } from '../support/temporary-folder.ts'
import { Xvfb } from '../support/xvfb.ts'
import { hashOfFile, MIB, pushFilm } from './support/film.ts'
import { sendText } from './support/phone-page.ts'
import { execute } from '../support/execute.ts'

/** Pairs in a terminal of 80 by 24, and reads the code off its screen. */
async function scan({ folder }: DaemonProcess): Promise<string> {
  const command = [process.execPath, ...PROGRAM, 'pair', '--label', 'Pixel'].join(' ')
  const sized = `stty columns 80 rows 24; ${command}`
  const env = isolatedEnvironment(folder)
  const { stdout } = await execute('script', ['-qefc', sized, '/dev/null'], { env })
  return readScreen(stdout.replaceAll('\r', '').split('\n').slice(-24).join('\n'))
}

/** A Chromium with a window, on a machine and a screen of its own. */
async function launch(
  t: TestContext,
  { inside }: Machine,
  profile: string,
  display: string,
): Promise<BrowserContext> {
  const program = await temporaryFile(
    t,
    'chromium',
    `#!/bin/sh\nexec ${inside.join(' ')} /usr/bin/chromium "$@"\n`,
  )
  await chmod(program, 0o700)
  const home = await temporaryFolder(t)
  const context = await chromium.launchPersistentContext(profile, {
    ...devices['Pixel 7'],
    executablePath: program,
    headless: false,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    env: { PATH: process.env['PATH'] ?? '', HOME: home, DISPLAY: display },
    timeout: 120_000,
  })
  context.setDefaultTimeout(120_000)
  return context
}

/** The files that hold one of these texts, in either way that browsers write them. */
async function filesWith(folder: string, secrets: readonly string[]): Promise<readonly string[]> {
  const wanted = secrets.flatMap((one) => [Buffer.from(one), Buffer.from(one, 'utf16le')])
  const found: string[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const bytes = await readFile(join(entry.parentPath, entry.name))
    if (wanted.some((one) => bytes.includes(one))) found.push(join(entry.parentPath, entry.name))
  }
  return found
}

/** A site in the same network, and what its page gets when it tries. */
async function attack(context: BrowserContext, here: string, gateway: string): Promise<void> {
  const site = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end(`<iframe src='${gateway}/phone'></iframe>`)
  })
  await new Promise<void>((resolve) => site.listen(0, here, resolve))
  const page = await context.newPage()
  try {
    const address = site.address()
    assert.ok(address instanceof Object)
    await page.goto(`http://${here}:${address.port}/`)
    assert.equal(page.frames()[1]?.url(), 'chrome-error://chromewebdata/')
    const text = JSON.stringify({ type: 'Text', text: 'from a stranger' })
    const tries = [
      ...[
        '/phone',
        '/Sync.json',
        '/file/film.bin',
        '/phone/tickets/AAAA',
        '/api/sse/clipboard',
      ].map((path) => `fetch('${gateway}${path}').then((it) => it.text())`),
      `fetch('${gateway}/Sync.json', { method: 'PUT', body: '${text}' }).then((it) => it.text())`,
      `import('${gateway}/phone/account.js')`,
    ]
    for (const one of tries) {
      assert.equal(await page.evaluate(`${one}.catch(() => 'nothing')`), 'nothing', one)
    }
    // Posts need nobody's leave, but credentials, which no browser adds.
    for (const path of ['/Sync.json', '/phone/tickets', '/api/history', '/phone/share']) {
      const init = `{ method: 'POST', mode: 'no-cors', body: '${text}' }`
      await page.evaluate(`fetch('${gateway}${path}', ${init}).catch(() => 'nothing')`)
    }
  } finally {
    await page.close()
    site.close()
  }
}

const TOOLS = ['chromium', 'Xvfb', 'xclip', 'script', 'stty'] as const

describe('the phone page at an address of a network', needsMachines(...TOOLS), () => {
  it('is scanned off a terminal, used, attacked and removed, and leaves nothing of use', async (t) => {
    const { machine, here } = await layCable(t, 'browser')
    const args = ['--clipboard', 'none', '--listen', `${here}:0`]
    const daemon = await startDaemon(t, { args })
    const { gateway } = daemon.ready
    const other = await daemon.phone('Other')
    const address = await scan(daemon)
    const { display } = await Xvfb.start(t, ['-screen', '0', '800x1000x24'])
    const profile = await temporaryFolder(t)
    const context = await launch(t, machine, profile, display)
    t.after(() => context.close())
    const [page = await context.newPage()] = context.pages()

    await page.goto(address)
    await page.locator('[data-way=live]').waitFor()
    assert.equal(await page.evaluate('isSecureContext'), false)
    const { user, password } = JSON.parse(
      String(await page.evaluate(`localStorage.getItem('clipgate.phone')`)),
    )

    await other.pushText('read here, pasted there')
    await page.getByText('read here, pasted there').waitFor()
    await page.getByRole('button', { name: 'Copy' }).tap()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const env = { ...process.env, DISPLAY: display }
    const { stdout } = await execute('xclip', ['-selection', 'clipboard', '-out'], { env })
    assert.equal(stdout, 'read here, pasted there')

    await page.getByRole('textbox').fill('typed, not sent')
    const plain = await context.newPage()
    await plain.goto('data:text/html,<textarea></textarea>')
    await plain.getByRole('textbox').fill('typed elsewhere')
    // Chromium writes its session a while later, with what stands in the fields of every page.
    const sessions = join(profile, 'Default/Sessions')
    while ((await filesWith(sessions, ['typed elsewhere'])).length === 0) await plain.title()
    assert.deepEqual(await filesWith(sessions, ['typed, not sent']), [])
    await plain.close()
    await sendText(page, 'from the phone')
    await other.reads({ text: 'from the phone' })

    const film = await pushFilm(t, other)
    await page.getByText('film.bin').waitFor()
    const save = page.getByRole('link', { name: 'Save' })
    const ticket = new URL((await save.getAttribute('href')) ?? '', page.url())
    const downloading = page.waitForEvent('download')
    const begun = performance.now()
    await save.tap()
    const path = await (await downloading).path()
    const seconds = (performance.now() - begun) / 1000
    t.diagnostic(`saved ${film.size / MIB} MiB in ${seconds.toFixed(1)} s`)
    assert.equal(await hashOfFile(path), film.hash)
    const start = 8 * MIB
    const bytes = createReadStream(film.path, { start, end: start + 99 })
    const ranged = await fetch(ticket, { headers: { Range: `bytes=${start}-${start + 99}` } })
    assert.equal(ranged.status, 206)
    assert.deepEqual(Buffer.from(await ranged.arrayBuffer()), await buffer(bytes))

    await attack(context, here, gateway)
    await other.reads({ dataName: 'film.bin' })

    const device = JSON.parse((await daemon.run('devices', '--json')).stdout)
    const found = device.find((one: { username: string }) => one.username === user)
    const revoked = daemon.run('revoke', found.id).then(() => performance.now())
    await page.getByText('This phone was disconnected').waitFor()
    const after = performance.now() - (await revoked)
    t.diagnostic(`the page ended ${after.toFixed(0)} ms after the command`)
    assert.equal((await fetch(ticket)).status, 404)
    assert.equal(await page.evaluate('localStorage.length'), 0)

    await context.close()
    const texts = ['read here, pasted there', 'from the phone']
    const [, fragment = ''] = address.split('#')
    assert.deepEqual(await filesWith(profile, texts), [])
    // Chromium notes the address that the camera gave it before the page can clear it, and sweeps
    // what the page removed later: both are worth nothing by now. No cache has any of it.
    const left = await filesWith(profile, [password, fragment])
    const cached = /[/](?:[^/]*Cache[^/]*|Network|Service Worker)[/]/
    assert.deepEqual(
      left.filter((name) => cached.test(name)),
      [],
    )
    assert.equal(
      (await createPhone({ username: user, password }, gateway).fetch('/Sync.json')).status,
      401,
    )
    const log = daemon.stderr()
    for (const one of [...texts, password, fragment, ticket.pathname]) assert.ok(!log.includes(one))
  })
})
