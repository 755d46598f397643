/**
 * The numbers of docs/performance.md.
 * @module
 */

import { availableParallelism } from 'node:os'

export type BudgetId =
  | 'B1'
  | 'B2'
  | 'B3a'
  | 'B3b'
  | 'B4'
  | 'B5'
  | 'B6 random'
  | 'B6 line ends'
  | 'B7'
  | 'B8'
  | 'B9a'
  | 'B9b'
  | 'B10'
  | 'B11 memory'
  | 'B11 rest'
  | 'B11 probe'
  | 'B11 device'
  | 'B12 latency'
  | 'B12 memory'
  | 'B13'
  | 'B14 packages'
  | 'B14 size'
  | 'B15 decode'
  | 'B15 encode'
  | `B17 ${'x11' | 'wayland'} ${'copy' | 'paste' | 'idle'}`
  | `B17 windows ${'copy' | 'idle'}`
  | 'B18'
  | 'B20 latency'
  | 'B20 memory'
  | `B21 ${'read' | 'push' | 'upload' | 'apply' | 'download'}`
  | 'B22'
  | `B23 ${'pull' | 'push' | 'handshake' | 'idle'}`
  | `B19 ${'pull' | 'push'}${'' | ' cost'}`

export interface Budget {
  readonly what: string
  /** What is measured beside it, in the same run. */
  readonly baseline: string
  readonly unit: string
  readonly better: 'higher' | 'lower'
  /** Whether floor and aim are about the ratio to the baseline, or about the amount itself. */
  readonly judged: 'ratio' | 'amount'
  readonly floor: number
  readonly aim: number
}

const RATE = { better: 'higher', judged: 'ratio' } as const
const COST = { better: 'lower', judged: 'ratio' } as const
const AMOUNT = { better: 'lower', judged: 'amount' } as const

const GET = { ...RATE, baseline: 'bare node:http', unit: 'req/s' } as const
const FILE = { ...RATE, unit: 'MB/s' } as const
const PUT = { ...FILE, what: 'PUT /file' } as const
const FORM = { ...FILE, baseline: '@fastify/busboy', floor: 1, aim: 1.5 } as const
const BARE = { ...COST, baseline: 'bare node:http' } as const
const IDLE = { ...BARE, unit: 'MiB' } as const
const GUESSED = { ...AMOUNT, baseline: 'at rest' } as const
const INSTALL = { ...AMOUNT, baseline: 'express' } as const
const DESKTOP = { ...AMOUNT, baseline: '', unit: 'ms', floor: 100, aim: 50 } as const
const MEMBERS = { ...FILE, baseline: 'curl -T to one of them', floor: 0.7, aim: 0.8 } as const
const RECEIVER = { ...COST, baseline: 'PUT /file', unit: 's', floor: 1.3, aim: 1 } as const
const SECURE = { ...FILE, baseline: 'without TLS', floor: 0.25, aim: 0.3 } as const
const AT_REST = { ...AMOUNT, baseline: '', unit: '%', floor: 0.1, aim: 0.05 } as const
const SHARED = { ...COST, baseline: 'alone', unit: 'ms', floor: 2, aim: 1.2 } as const
const LINK = { ...RATE, unit: 'op/s', floor: 0.2, aim: 0.4 } as const

export const BUDGETS: Readonly<Record<BudgetId, Budget>> = {
  B1: { ...GET, what: 'GET /Sync.json, authenticated', floor: 0.85, aim: 0.97 },
  B2: { ...GET, what: 'GET /healthz', floor: 0.95, aim: 1 },
  B3a: { ...PUT, baseline: 'nginx, sha256sum, b3sum', floor: 1, aim: 2 },
  B3b: { ...PUT, baseline: 'nginx', floor: 0.6, aim: 0.9 },
  B4: {
    ...PUT,
    baseline: 'bare node:http, no hashes',
    floor: 0.35,
    aim: availableParallelism() < 4 ? 0.45 : 0.6,
  },
  B5: {
    ...FILE,
    what: 'POST /api/history, multipart',
    baseline: 'own PUT /file',
    floor: 0.85,
    aim: 0.97,
  },
  'B6 random': { ...FORM, what: 'read a form, random file' },
  'B6 line ends': { ...FORM, what: 'read a form, file of line ends' },
  B7: { ...FILE, what: 'GET /file', baseline: 'nginx sendfile', floor: 0.6, aim: 0.9 },
  B8: {
    ...AMOUNT,
    what: 'four uploads at once, peak memory over idle',
    baseline: 'bare node:http, no hashes',
    unit: 'MiB',
    floor: 32,
    aim: 24,
  },
  B9a: { ...IDLE, what: 'idle memory, before the first login', floor: 1.25, aim: 1.1 },
  B9b: { ...IDLE, what: 'idle memory, after a login and a rest', floor: 1.35, aim: 1.25 },
  B10: { ...BARE, what: 'start to ready', unit: 'ms', floor: 1.6, aim: 1.2 },
  'B11 memory': {
    ...GUESSED,
    what: '200 password guessers, peak memory over idle',
    unit: 'MiB',
    floor: 128,
    aim: 96,
  },
  'B11 rest': { ...GUESSED, what: '12 s after them, over idle', unit: 'MiB', floor: 40, aim: 40 },
  'B11 probe': { ...GUESSED, what: 'GET /healthz among them, p99', unit: 'ms', floor: 50, aim: 15 },
  'B11 device': { ...GUESSED, what: 'GET of a known device, p99', unit: 'ms', floor: 50, aim: 15 },
  'B12 latency': {
    ...AMOUNT,
    what: 'push to the last of 1,000 event streams, p99',
    baseline: '',
    unit: 'ms',
    floor: 100,
    aim: 40,
  },
  'B12 memory': {
    ...AMOUNT,
    what: 'memory of an event stream',
    baseline: '',
    unit: 'KiB',
    floor: 16,
    aim: 8,
  },
  B13: { ...COST, what: 'first login', baseline: 'native argon2', unit: 'ms', floor: 5, aim: 1.5 },
  'B14 packages': { ...INSTALL, what: 'installed packages', unit: '', floor: 2, aim: 1 },
  'B14 size': { ...INSTALL, what: 'installed size', unit: 'MB', floor: 2.6, aim: 2 },
  'B15 decode': { ...LINK, what: 'decode a connect link', baseline: 'JSON.parse' },
  'B15 encode': { ...LINK, what: 'encode a connect link', baseline: 'JSON.stringify' },
  'B17 x11 copy': { ...DESKTOP, what: 'X11: copy to a waiting client, p90' },
  'B17 x11 paste': { ...DESKTOP, what: 'X11: push to a program that pastes, p90' },
  'B17 x11 idle': { ...AT_REST, what: 'X11: processor at rest' },
  'B17 wayland copy': { ...DESKTOP, what: 'Wayland: copy to a waiting client, p90' },
  'B17 wayland paste': { ...DESKTOP, what: 'Wayland: push to a program that pastes, p90' },
  'B17 wayland idle': { ...AT_REST, what: 'Wayland: processor at rest' },
  'B17 windows copy': { ...DESKTOP, what: 'Windows, below Wine: copy to a waiting client, p90' },
  'B17 windows idle': { ...AT_REST, what: 'Windows, below Wine: processor at rest' },
  B18: {
    ...FILE,
    what: 'a file from the phone page, in Chromium',
    baseline: 'curl -T',
    floor: 0.8,
    aim: 0.95,
  },
  'B20 latency': {
    ...AMOUNT,
    what: 'push to the last of 1,000 hub connections, p99',
    baseline: 'nginx nchan',
    unit: 'ms',
    floor: 100,
    aim: 40,
  },
  'B20 memory': {
    ...COST,
    what: 'memory of a hub connection',
    baseline: 'own event stream',
    unit: 'KiB',
    floor: 1.25,
    aim: 1,
  },
  'B21 read': { ...SHARED, what: 'read a document beside a greedy device' },
  'B21 push': { ...SHARED, what: 'push a text of 100 kB beside it' },
  'B21 upload': { ...SHARED, what: 'upload 8 MiB beside it' },
  'B21 apply': { ...SHARED, what: 'make that the item beside it' },
  'B21 download': { ...SHARED, what: 'download 8 MiB beside it' },
  B22: {
    ...BARE,
    what: 'GET /Sync.json, a connection each: processor',
    unit: 'µs',
    floor: 1.5,
    aim: 1.3,
  },
  'B23 pull': { ...SECURE, what: 'GET /file over TLS' },
  'B23 push': { ...SECURE, what: 'PUT /file over TLS' },
  'B23 handshake': {
    ...AMOUNT,
    what: 'a handshake: processor',
    baseline: 'without TLS',
    unit: 'ms',
    floor: 15,
    aim: 5,
  },
  'B23 idle': {
    ...AMOUNT,
    what: 'idle memory that is its own, over that without TLS',
    baseline: '',
    unit: 'MiB',
    floor: 2,
    aim: 1,
  },
  'B19 pull': { ...MEMBERS, what: 'a file that a member pulls from another' },
  'B19 pull cost': { ...RECEIVER, what: 'processor time of the member that pulls' },
  'B19 push': { ...MEMBERS, what: 'a file that a member pushes to another' },
  'B19 push cost': { ...RECEIVER, what: 'processor time of the member that is pushed to' },
}
