import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { describe, it } from 'node:test'
import { identifyMachine, isAnotherMachine } from '../../src/storage/home/process-identity.ts'

const [A, B] = ['id:a', 'id:b']
const [NAMED_A, NAMED_B] = ['host:a', 'host:b']
const [BOOT_1, BOOT_2] = ['1', '2']

type Known = readonly [machine: string | undefined, bootId: string | undefined]

const CASES: readonly (readonly [what: string, then: Known, now: Known, isAnother: boolean])[] = [
  ['the same machine', [A, BOOT_1], [A, BOOT_1], false],
  ['the same machine after another boot', [A, BOOT_1], [A, BOOT_2], false],
  ['two machines', [A, BOOT_1], [B, BOOT_2], true],
  ['two containers that have ids, on one machine', [A, BOOT_1], [B, BOOT_1], true],
  ['two containers that have no ids, on one machine', [NAMED_A, BOOT_1], [NAMED_B, BOOT_1], false],
  ['two machines that have names only', [NAMED_A, BOOT_1], [NAMED_B, BOOT_2], true],
  ['a container beside the machine that it runs on', [NAMED_A, BOOT_1], [B, BOOT_1], false],
  ['a machine that has a name, and one that has an id', [NAMED_A, BOOT_1], [B, BOOT_2], false],
  ['a machine of which nothing is known', [undefined, BOOT_1], [B, BOOT_2], false],
  ['a machine that knows nothing of itself', [NAMED_A, BOOT_1], [undefined, BOOT_2], false],
  ['one with an id, where nothing is known', [A, BOOT_1], [undefined, BOOT_2], true],
  ['one with an id, where there is only a name', [A, BOOT_1], [NAMED_B, BOOT_2], true],
  ['a machine with an id, in a container on it without', [A, BOOT_1], [NAMED_B, BOOT_1], true],
]

describe('isAnotherMachine()', () => {
  for (const [what, [machine, bootId], [ownMachine, ownBootId], isAnother] of CASES) {
    it(`says ${isAnother ? 'yes' : 'no'} to ${what}`, () => {
      const own = { machine: ownMachine, bootId: ownBootId }
      assert.equal(isAnotherMachine({ machine, bootId }, own), isAnother)
    })
  }
})

describe('identifyMachine()', () => {
  it('says the same each time, and never the id of the machine itself', async () => {
    const { machine, host } = identifyMachine()
    assert.deepEqual(identifyMachine(), { machine, host })
    assert.equal(host, hostname())
    const id = (await readFile('/etc/machine-id', 'utf8').catch(() => '')).trim()
    if (id !== '') assert.equal(machine?.includes(id), false)
  })
})
