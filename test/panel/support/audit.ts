/**
 * What somebody with a screen reader, a keyboard, weak eyes or a narrow window would stumble over.
 * @module
 */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** Minor is what nobody trips over. */
const RUN = `axe.run({ rules: { 'target-size': { enabled: true } } }).then((result) => {
  const grave = result.violations.filter(({ impact }) => impact !== 'minor')
  const { scrollWidth, clientWidth } = document.documentElement
  const sideways = scrollWidth > clientWidth ? ['scrolls sideways by ' + (scrollWidth - clientWidth)] : []
  const found = grave.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html }) => [id, impact, html.slice(0, 200)].join(': ')))
  return { found: [...found, ...sideways], passes: result.passes.length }
})`

/** Looks at a page as it is. @throws {AssertionError} naming what is wrong above minor. */
export async function assertAccessible(page: Page, state = ''): Promise<void> {
  if (!(await page.evaluate<boolean>(`'axe' in window`))) {
    await page.evaluate(await readFile(AXE, 'utf8'))
  }
  const { found, passes } = await page.evaluate<{ found: string[]; passes: number }>(RUN)
  assert.deepEqual(found, [], state)
  assert.ok(passes > 10, `${state}: ${passes} rules have found what they are about`)
}
