import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createCgroup, type Cgroup } from '../../bench/support/cgroup.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const LIMITS = { memoryBytes: 128 * 1024 * 1024, processors: 0.25 }

/** A tree of files as the kernel has it. Its files do not appear by themselves in new folders. */
async function makeTree(
  t: TestContext,
  files: Readonly<Record<string, string>>,
): Promise<{ readonly root: string; readonly read: (path: string) => string }> {
  const root = await temporaryFolder(t)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return { root, read: (path) => readFileSync(join(root, path), 'utf8') }
}

function assertMade(made: Cgroup | string): asserts made is Cgroup {
  assert.equal(typeof made, 'object', String(made))
}

describe('createCgroup()', () => {
  it('makes a group of version 1 below ours, for each controller', async (t) => {
    const { root, read } = await makeTree(t, { 'memory/a/x': '', 'cpu,cpuacct/b/x': '' })
    const membership = '5:memory:/a\n4:cpu,cpuacct:/b\n0::/\n'
    const made = createCgroup('small', LIMITS, { root, membership })
    assertMade(made)
    assert.equal(made.version, 1)
    assert.equal(read('memory/a/small/memory.limit_in_bytes'), '134217728')
    assert.equal(read('cpu,cpuacct/b/small/cpu.cfs_quota_us'), '25000')
    assert.deepEqual(made.joinFiles, [
      join(root, 'memory/a/small/cgroup.procs'),
      join(root, 'cpu,cpuacct/b/small/cgroup.procs'),
    ])
  })

  it('makes a group of version 2 below the nearest that hands both controllers on', async (t) => {
    const { root, read } = await makeTree(t, {
      'cgroup.subtree_control': 'cpu memory pids\n',
      'user/cgroup.subtree_control': 'cpu memory\n',
      'user/own/cgroup.subtree_control': 'pids\n',
    })
    const made = createCgroup('small', LIMITS, { root, membership: '0::/user/own\n' })
    assertMade(made)
    assert.equal(made.version, 2)
    assert.equal(read('user/small/memory.max'), '134217728')
    assert.equal(read('user/small/cpu.max'), '25000 100000')
    writeFileSync(join(root, 'user/small/memory.current'), '4096\n')
    writeFileSync(join(root, 'user/small/memory.events'), 'oom 3\noom_kill 2\noom_group_kill 1\n')
    assert.deepEqual(made.read(), { usage: 4096, peak: undefined, killed: 2 })
    writeFileSync(join(root, 'user/small/cpu.stat'), 'nr_throttled 1\nthrottled_usec 2500000\n')
    assert.equal(made.throttledSeconds(), 2.5)
  })

  it('says why there is none', async (t) => {
    const { root } = await makeTree(t, { 'user/cgroup.subtree_control': 'pids\n' })
    const none = createCgroup('small', LIMITS, { root, membership: '0::/user\n' })
    assert.match(String(none), /^needs control groups/)
    assert.match(String(createCgroup('small', LIMITS, { root, membership: '' })), /^needs/)
    rmSync(root, { recursive: true })
    mkdirSync(join(root, 'memory'), { recursive: true })
    mkdirSync(join(root, 'cpu/small'), { recursive: true })
    const taken = { root, membership: '5:memory:/\n4:cpu:/\n' }
    assert.match(String(createCgroup('small', LIMITS, taken)), /^cannot make a control group/)
  })
})
