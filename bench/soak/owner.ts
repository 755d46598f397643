/**
 * The owner of the daemon, who pairs, rotates and revokes while everybody else goes on.
 * @module
 */

import { SoakPhone, type Credentials } from './phone.ts'
import { pause, type Actor, type World } from './world.ts'

/** Others who guess may keep a new login waiting so often. */
const MAX_ATTEMPTS = 20

/** Changes count at once: the old password fails, and the new one does not. */
export function owner(world: World, localAddress: string): Actor {
  const { admin, tally } = world
  const unset = { label: undefined, username: undefined, password: undefined, url: undefined }
  return {
    who: 'owner',
    pause: [1000, 6000],
    async step(random) {
      const paired = await admin.pair({ kind: random.pick(['phone', 'peer']), ...unset })
      await expectLogin(world, localAddress, paired, 'accepted')
      const rotated = await admin.rotate(paired.id)
      await expectLogin(world, localAddress, paired, 'refused')
      await expectLogin(world, localAddress, rotated, 'accepted')
      const { devices } = await admin.status()
      tally.count('owner', 'status')
      if (devices < world.phones.length) tally.fault('owner', `there are ${devices} devices left`)
      await admin.revoke(paired.id)
      await expectLogin(world, localAddress, rotated, 'refused')
    },
  }
}

async function expectLogin(
  { port, tally, signal }: World,
  localAddress: string,
  credentials: Credentials,
  expected: 'accepted' | 'refused',
): Promise<void> {
  const phone = new SoakPhone(port, credentials, localAddress)
  try {
    for (let attempt = 1; ; attempt++) {
      const { status, headers } = await phone.ask('GET', '/')
      tally.count('owner', status)
      // Come again: nothing is decided yet.
      if ((status === 503 || status === 429) && attempt < MAX_ATTEMPTS) {
        await pause(signal, 1000 * Number(headers['retry-after'] ?? 1))
        if (signal.aborted) return
        continue
      }
      const wanted = expected === 'accepted' ? 200 : 401
      if (status !== wanted) tally.fault('owner', `a login gets ${status}, not ${wanted}`)
      return
    }
  } finally {
    phone.close()
  }
}
