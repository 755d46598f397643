import assert from 'node:assert/strict'
import { it } from 'node:test'
import { findOtherNodes } from '../../bench/auth/other-nodes.ts'

it('the Node that runs this is none of the others', async () => {
  const [own = ''] = process.versions.node.split('.')
  assert.deepEqual(await findOtherNodes(`${own} ${process.versions.node}`), [])
  assert.deepEqual(await findOtherNodes(''), [])
})
