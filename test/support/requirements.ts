/**
 * Tests that need a tool say so, and are skipped where it is missing; with
 * `CLIPGATE_TEST_REQUIRE=all` they fail instead, so that CI cannot go green by skipping.
 * @module
 */

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * Options for `it()` or `describe()`.
 *
 * @example
 * ```ts
 * it('pastes with xclip', needs('Xvfb', 'xclip'), async (t) => { … })
 * ```
 */
export function needs(...tools: readonly string[]): { readonly skip: string | false } {
  const missing = tools.filter((tool) => !isInstalled(tool))
  if (missing.length === 0) return { skip: false }
  return without(missing.join(', '))
}

/** Options for a test that needs what is not there. */
export function without(missing: string): { readonly skip: string } {
  const reason = `needs ${missing}`
  if (process.env['CLIPGATE_TEST_REQUIRE'] === 'all') throw new Error(`This test ${reason}`)
  return { skip: `skipped: ${reason}` }
}

function isInstalled(tool: string): boolean {
  // Debian keeps servers in sbin, which is not on every user's path.
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin']
  return folders.some((folder) => {
    try {
      accessSync(join(folder, tool), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
