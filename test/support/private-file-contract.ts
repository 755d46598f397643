/** What every {@link PrivateFile} does. @module */

import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { PrivateFile } from '../../src/ports/private-file.ts'

/** @param open The same file each time in one test; there is none at first. */
export function describePrivateFile(
  name: string,
  open: (t: TestContext) => Promise<() => PrivateFile>,
): void {
  describe(name, () => {
    it('is not there at first, and can be removed all the same', async (t) => {
      const file = (await open(t))()
      await file.remove()
      assert.equal(await file.read(), undefined)
    })

    it('is read as it was written last, also by the next program', async (t) => {
      const openAgain = await open(t)
      for (const text of ['first', '', 'ünïcode 👋\n'.repeat(1000)]) {
        await openAgain().write(text)
        assert.equal(await openAgain().read(), text)
      }
    })

    it('is gone once it was removed, and can come back', async (t) => {
      const openAgain = await open(t)
      await openAgain().write('text')
      await openAgain().remove()
      assert.equal(await openAgain().read(), undefined)
      await openAgain().write('again')
      assert.equal(await openAgain().read(), 'again')
    })
  })
}
