/**
 * A real WebKit, the engine of every iPhone, in a machine and on a screen of its own: MiniBrowser,
 * driven by what the W3C calls WebDriver.
 * @module
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { isolatedEnvironment } from '../../support/daemon-process.ts'
import type { Machine } from '../../support/machines.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { Xvfb } from '../../support/xvfb.ts'

/** Nothing else listens in the machine, so any will do. */
const PORT = 4444

/** The member of a reply that names an element: WebDriver, "Elements". */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'

export interface WebKitOptions {
  /** Where the browser runs, and the address of that machine. */
  readonly machine: Machine
  readonly address: string
  readonly env?: NodeJS.ProcessEnv
  /** In CSS pixels. */
  readonly screen?: readonly [width: number, height: number]
}

export interface WebKit {
  /** The X server on which the browser runs, whose clipboard other programs read. */
  readonly display: string
  /** What it takes for the home of its user, where it saves what is downloaded. */
  readonly home: string
  goto(url: string): Promise<void>
  /** Runs the body of a function in the page, and returns what it returns. */
  evaluate(body: string): Promise<unknown>
  /** Waits until an expression is true in the page. */
  until(expression: string): Promise<void>
  /** Waits until the page shows a text. */
  shows(text: string): Promise<void>
  /** Clicks a button, a link or what else has this text, as a hand does. */
  tap(text: string): Promise<void>
  /** Types into the element of a selector; paths, where it takes files. */
  type(selector: string, keys: string): Promise<void>
  /** Ends the browser, and leaves its files. */
  close(): Promise<void>
}

/** Starts a browser without a page. It ends with the test. */
export async function openWebKit(
  t: TestContext,
  { machine, address, env, screen: [width, height] = [390, 844] }: WebKitOptions,
): Promise<WebKit> {
  const home = await temporaryFolder(t)
  const xvfb = await Xvfb.start(undefined, ['-screen', '0', `${width}x${height}x24`])
  const { display } = xvfb
  const [program = '', ...inside] = machine.inside
  const server = spawn(program, [...inside, 'WebKitWebDriver', '--host=all', `--port=${PORT}`], {
    env: { ...isolatedEnvironment(home), DISPLAY: display, GDK_BACKEND: 'x11', ...env },
    stdio: 'ignore',
  })
  const origin = `http://${address}:${PORT}`
  while (!(await isListening(origin)));

  const browser = { binary: miniBrowser(), args: ['--automation', '--full-screen'] }
  const capabilities = { alwaysMatch: { 'webkitgtk:browserOptions': browser } }
  const opened = memberOf(await ask('POST', `${origin}/session`, { capabilities }), 'sessionId')
  const session = `${origin}/session/${opened}`
  await ask('POST', `${session}/window/rect`, { x: 0, y: 0, width, height })
  let isOpen = true
  const close = async (): Promise<void> => {
    if (isOpen) await ask('DELETE', session)
    isOpen = false
  }
  t.after(async () => {
    await close()
    const exit = once(server, 'exit')
    server.kill()
    await exit
    await xvfb.stop()
  })
  const post = (path: string, body: object): Promise<unknown> =>
    ask('POST', `${session}/${path}`, body)
  const find = async (using: string, value: string): Promise<string> =>
    memberOf(await post('element', { using, value }), ELEMENT)

  const page: WebKit = {
    display,
    home,
    goto: async (url) => void (await post('url', { url })),
    evaluate: (script) => post('execute/sync', { script, args: [] }),
    until: async (expression) => {
      while ((await page.evaluate(`return Boolean(${expression})`)) !== true);
    },
    shows: (text) => page.until(`document.body?.innerText.includes(${JSON.stringify(text)})`),
    tap: async (text) => {
      await page.shows(text)
      const value = `//*[self::a or self::button or self::summary][normalize-space()="${text}"]`
      await post(`element/${await find('xpath', value)}/click`, {})
    },
    type: async (selector, text) =>
      void (await post(`element/${await find('css selector', selector)}/value`, { text })),
    close,
  }
  return page
}

/** Debian keeps it beside the library, off the path. */
function miniBrowser(): string {
  const triplet = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu'
  return `/usr/lib/${triplet}/webkit2gtk-4.1/MiniBrowser`
}

function isListening(origin: string): Promise<boolean> {
  return fetch(`${origin}/status`).then(
    ({ ok }) => ok,
    () => false,
  )
}

/** @throws {Error} With what the driver says. */
async function ask(method: string, url: string, body?: object): Promise<unknown> {
  const response = await fetch(url, {
    method,
    body: body === undefined ? null : JSON.stringify(body),
  })
  const reply: unknown = await response.json()
  const value = reply instanceof Object && 'value' in reply ? reply.value : undefined
  if (!response.ok) throw new Error(`Cannot ${method} ${url}: ${JSON.stringify(value)}`)
  return value
}

function memberOf(value: unknown, name: string): string {
  const members: Partial<Record<string, unknown>> = { ...Object(value) }
  const text = members[name]
  if (typeof text !== 'string') throw new Error(`The driver gave no ${name}`)
  return text
}
