/**
 * What CI holds of each budget: a limit that unchanged code keeps also with `QUICK=1`, on two cores
 * that others use as well. Where it is not the floor, it stands between the floor and what is
 * measured today, or leaves room for what small bodies and a busy machine do to the figure. It
 * catches that something became much worse, not that it became a little slower.
 * @module
 */

import type { BudgetId } from './budgets.ts'

export type Guard = Guarded | { readonly unguarded: string }

export interface Guarded {
  /** Which file of `bench/` measures it. */
  readonly file: string
  /** In the unit of the floor. */
  readonly limit: number
  /** Why it is not the floor. */
  readonly because?: string
}

const SHARES_CORES = 'the load takes cores of its own, and shares them here'
const FOUR_THREADS = 'an upload is worked on by four threads, which a busy machine does not have'
const TWO_DAEMONS = 'two daemons work on a transfer, and one on the upload beside it'
const SHORT_FILE = 'with 128 MiB, the hash worker that starts and the last fsync count for more'
const MILLISECONDS = 'milliseconds: a busy machine misses them whatever the code does'

const UPLOAD = { file: 'upload' } as const
const IDLE = { file: 'idle-memory' } as const
const QUIET = { unguarded: MILLISECONDS } as const
const REST = { unguarded: 'needs a rest that is longer than all of a quick run' } as const
const MEMBERS = { file: 'members' } as const
const INSTALL = { file: 'install' } as const
const LINK = { file: 'connect-link' } as const

export const GUARDS: Readonly<Record<BudgetId, Guard>> = {
  B1: { file: 'requests', limit: 0.7, because: SHARES_CORES },
  B2: { file: 'requests', limit: 0.75, because: SHARES_CORES },
  B3a: { ...UPLOAD, limit: 1 },
  B3b: { ...UPLOAD, limit: 0.3, because: FOUR_THREADS },
  B4: { ...UPLOAD, limit: 0.2, because: FOUR_THREADS },
  B5: { file: 'multipart-upload', limit: 0.6, because: 'bodies of 128 MiB end too soon' },
  'B6 random': { file: 'multipart', limit: 0.9, because: 'single rounds are short' },
  'B6 line ends': { file: 'multipart', limit: 1 },
  B7: { file: 'download', limit: 0.6 },
  B8: { file: 'upload-memory', limit: 40, because: 'two rounds' },
  B9a: { ...IDLE, limit: 1.3, because: 'three processes, after a short rest' },
  B9b: { ...IDLE, limit: 1.5, because: 'a rest of seconds instead of a minute' },
  B10: {
    file: 'start',
    limit: 3.2,
    because:
      'Node 20 misses the floor, by more where memory is slow, and short runs spread by 13 %',
  },
  'B11 memory': { file: 'logins', limit: 128 },
  'B11 rest': { file: 'logins', limit: 40 },
  'B11 probe': QUIET,
  'B11 device': QUIET,
  'B12 latency': QUIET,
  'B12 memory': { unguarded: 'with 200 streams the noise of the heap is larger than the streams' },
  B13: { unguarded: 'needs a package from a registry, and one idle core for each side' },
  'B14 packages': { ...INSTALL, limit: 2 },
  'B14 size': { ...INSTALL, limit: 2.6 },
  'B15 decode': { ...LINK, limit: 0.2 },
  'B15 encode': { ...LINK, limit: 0.2 },
  'B17 x11 copy': QUIET,
  'B17 x11 paste': QUIET,
  'B17 x11 idle': REST,
  'B17 wayland copy': QUIET,
  'B17 wayland paste': QUIET,
  'B17 wayland idle': REST,
  'B17 windows copy': QUIET,
  'B17 windows idle': REST,
  B18: { unguarded: 'the browser is the limit, and takes the cores of the daemon' },
  'B20 latency': QUIET,
  'B20 memory': { unguarded: 'with 200 clients the noise of the heap is larger than they are' },
  'B21 read': QUIET,
  'B21 push': QUIET,
  'B21 upload': QUIET,
  'B21 apply': QUIET,
  'B21 download': QUIET,
  B22: { file: 'requests', limit: 1.75, because: 'rounds of a third of a second' },
  'B23 pull': { file: 'https', limit: 0.2, because: SHARES_CORES },
  'B23 push': { file: 'https', limit: 0.2, because: SHARES_CORES },
  'B23 handshake': { file: 'https', limit: 15 },
  'B23 idle': { file: 'https', limit: 3, because: 'three processes, after a short rest' },
  'B19 pull': { ...MEMBERS, limit: 0.3, because: TWO_DAEMONS },
  'B19 pull cost': { ...MEMBERS, limit: 1.6, because: SHORT_FILE },
  'B19 push': { ...MEMBERS, limit: 0.3, because: TWO_DAEMONS },
  'B19 push cost': { ...MEMBERS, limit: 1.6, because: SHORT_FILE },
}
