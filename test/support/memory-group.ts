/** Control groups with a limit on memory, for programs that have to do with little. @module */

import assert from 'node:assert/strict'
import { createCgroup, type Cgroup } from '../../bench/support/cgroup.ts'
import { MIB } from '../../src/core/limits.ts'

const limitsOf = (mib: number) => ({ memoryBytes: mib * MIB, processors: 2 })

/** Joins the group, and becomes the program. */
const JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 1; shift; done; shift; exec "$@"'

/** Options for a test that needs a group. */
export const needsGroup: { readonly skip: string | false } = (() => {
  const group = createCgroup(`clipgate-test-needs-${process.pid}`, limitsOf(64))
  if (typeof group !== 'string') group.remove()
  return { skip: typeof group === 'string' ? group : false }
})()

/** Makes a group, and the beginning of a command that runs in it. The test removes it. */
export function makeGroup(mib: number): {
  readonly group: Cgroup
  readonly inside: readonly [string, ...string[]]
} {
  const group = createCgroup(`clipgate-test-${process.pid}`, limitsOf(mib))
  assert.ok(typeof group !== 'string', String(group))
  return { group, inside: ['/bin/sh', '-c', JOIN, 'join', ...group.joinFiles, '--'] }
}
