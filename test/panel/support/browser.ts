/**
 * A real Chromium, without a window, on a profile of its own.
 * @module
 */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { isolatedEnvironment } from '../../support/daemon-process.ts'
import { byNight } from '../../support/night.ts'

/** The same engine without the windows of a browser takes a third of the processor time. */
const SHELL = '/usr/lib/chromium/chromium-headless-shell'
const CHROMIUM = existsSync(SHELL) ? SHELL : '/usr/bin/chromium'

/** A host that leads here, and that no browser trusts as it trusts `localhost`. */
export const INSECURE_HOST = 'desktop.test'

const ARGS = [
  `--host-resolver-rules=MAP ${INSECURE_HOST} 127.0.0.1`,
  // Chromium refuses root otherwise, and tests run as anybody.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // One kind of smooth edges, whatever the machine.
  '--disable-lcd-text',
]

/** For a machine that does ten other things; at night none, as films take as long as they take. */
const PATIENCE_MS = byNight(0, { byDay: 120_000 })

/** What a page said that a page of ours never says. */
const COMPLAINT = /Content Security Policy|Trusted ?Type|Refused to|blocked/i

/** A page, and what went wrong in it. */
export interface WatchedPage {
  readonly page: Page
  /** Fails when a script broke, a dialog opened, or the browser refused something. */
  assertCalm(): void
}

let launching: Promise<Browser> | undefined
let home: string | undefined

/** Ends the browser. */
export async function closeBrowser(): Promise<void> {
  await (await launching)?.close()
  launching = undefined
  if (home !== undefined) await rm(home, { recursive: true, force: true })
}

/** Opens an empty page in a profile of its own, in the one browser of a test file. */
export async function openPage(options: BrowserContextOptions = {}): Promise<WatchedPage> {
  launching ??= launch()
  const browser = await launching
  const context = await browser.newContext({
    viewport: { width: 1120, height: 800 },
    // What turns all the time is drawn all the time.
    reducedMotion: 'reduce',
    ...options,
  })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  return { page, assertCalm: watch(page) }
}

async function launch(): Promise<Browser> {
  home = await mkdtemp(join(tmpdir(), 'clipgate-browser-'))
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ARGS,
    timeout: PATIENCE_MS,
    env: definedOnly(isolatedEnvironment(home)),
  })
}

function watch(page: Page): () => void {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    if (COMPLAINT.test(message.text())) complaints.push(message.text())
  })
  return () => assert.deepEqual(complaints, [])
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined
  })
  return Object.fromEntries(entries)
}
