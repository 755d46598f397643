/** Good and bad values of every setting. @module */

import type { Settings } from '../../src/daemon/settings.ts'

type Sample<Value> = readonly [json: unknown, shell: string, meaning: Value]

const of = <Value>(...samples: readonly Sample<Value>[]): readonly Sample<Value>[] => samples

/** Values that are the same in JSON, in a shell, and in the settings. */
const same = <const Value extends string>(...values: readonly Value[]): readonly Sample<Value>[] =>
  values.map((value) => [value, value, value])

const flags = of([true, 'true', true], [false, '0', false])

const counts = of([10, '10', 10], ['20', '20', 20])

/** Two good values for each setting: as JSON, as a shell spells them, and what they mean. */
export const GOOD: { readonly [Name in keyof Settings]: readonly Sample<Settings[Name]>[] } = {
  dataDir: same('/a', '/b'),
  listen: of(
    [
      ['127.0.0.1:0', '[::1]:5'],
      '127.0.0.1:0,[::1]:5',
      [
        { host: '127.0.0.1', port: 0 },
        { host: '::1', port: 5 },
      ],
    ],
    ['10.0.0.1:1', '10.0.0.1:1', [{ host: '10.0.0.1', port: 1 }]],
  ),
  control: of(
    ['127.0.0.1:0', '127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['[::1]:9', '[::1]:9', { host: '::1', port: 9 }],
  ),
  headless: flags,
  clipboard: same('x11', 'none'),
  publicUrl: of(
    ['https://a.example/', 'https://a.example/', 'https://a.example'],
    ['http://b:8080/c//', 'http://b:8080/c//', 'http://b:8080/c'],
  ),
  allowPublic: of([true, '1', true], [false, 'false', false]),
  tls: same('local', 'off'),
  tlsCert: same('/a', '/b'),
  tlsKey: same('/a', '/b'),
  tlsListen: of(
    ['10.0.0.1:1', '10.0.0.1:1', [{ host: '10.0.0.1', port: 1 }]],
    [['[::]:2'], '[::]:2', [{ host: '::', port: 2 }]],
  ),
  trustedProxies: of(
    [['10.0.0.1'], '10.0.0.1', ['10.0.0.1']],
    [['fd00::/8', '10.0.0.0/8'], 'fd00::/8, 10.0.0.0/8', ['fd00::/8', '10.0.0.0/8']],
  ),
  phonePage: same('on', 'off'),
  phoneRecent: same('on', 'off'),
  maxConnections: counts,
  maxConnectionsPerAddress: counts,
  grace: of([8, '8', 8000], ['500ms', '500ms', 500]),
  maxFileBytes: of([1024, '1024', 1024], ['2GiB', '2GiB', 2 ** 31]),
  maxMetadataBytes: of([1024, '1024', 1024], ['1MiB', '1MiB', 2 ** 20]),
  stagingTtl: of([0.5, '0.5', 500], ['1h', '1h', 3_600_000]),
  stagingQuotaBytes: of([5, '5', 5], ['1.5KiB', '1.5KiB', 1536]),
  minFreeBytes: of([0, '0', 0], ['1KiB', '1KiB', 1024]),
  verifyWorkers: of([1, '1', 1], [2, '2', 2]),
  verifyQueue: of([1, '1', 1], [64, '64', 64]),
  heartbeat: of([20, '20', 20_000], ['1s', '1s', 1000]),
  receivedDir: same('/a', '/b'),
  shareTypes: of(
    [['text'], 'text', ['text']],
    [['image', 'files'], 'image, files', ['image', 'files']],
  ),
  maxCopiedTextBytes: of([1024, '1024', 1024], ['1MiB', '1MiB', 2 ** 20]),
  maxCopiedImageBytes: of([1, '1', 1], ['64MiB', '64MiB', 2 ** 26]),
  bus: of(
    ['nats://broker:4222', 'nats://broker:4222', ['nats://broker:4222']],
    [['tls://a/', 'nats://[::1]:5'], 'tls://a/, nats://[::1]:5', ['tls://a', 'nats://[::1]:5']],
  ),
  busCredentials: same('/a.creds', '/b'),
  busCa: same('/ca.pem', '/b'),
  recent: of([0, '0', 0], ['100', '100', 100]),
  notify: flags,
  notifyArrivals: same('all', 'files'),
  logLevel: same('debug', 'error'),
  pairFirst: of([true, 'true', true], [false, 'false', false]),
}

export const BAD: { readonly [Name in keyof Settings]: readonly unknown[] } = {
  dataDir: ['', 5, 'a\0b'],
  listen: ['42720', ['127.0.0.1'], [5], 'a:1,,b:2', []],
  control: ['0.0.0.0:1', '10.0.0.1:42721', '[::]:1', 'example.com:1', 'x'],
  headless: ['yes', 1, 'TRUE'],
  clipboard: ['X11', 'gnome', true],
  publicUrl: ['clip.example', 'ftp://a', 'http://u:secretword@a', 'http://a/?q', 'http://a/#f', 5],
  allowPublic: ['maybe', {}],
  tls: [true, 'on', ''],
  tlsCert: ['', 5],
  tlsKey: ['', {}],
  tlsListen: ['42722', []],
  trustedProxies: ['proxy', '10.0.0.1/33', 'fd00::/129', '10.0.0.0/', '1.2.3.4/5/6', [4]],
  phonePage: [true, 'no', ''],
  phoneRecent: ['yes', 1, ''],
  maxConnections: ['0', -1, '1.5', 'many', '1KiB'],
  maxConnectionsPerAddress: [0, '1e3', null],
  grace: ['-1', '8x', '2h', '', '8 s'],
  maxFileBytes: [0, '11GiB', '1GB', 1.5, '0x10'],
  maxMetadataBytes: ['17MiB', '0'],
  stagingTtl: ['0', 'soon', '1000000d'],
  stagingQuotaBytes: ['0', 'all'],
  minFreeBytes: ['-1', [1]],
  verifyWorkers: [0, 65],
  verifyQueue: [0, 'x'],
  heartbeat: ['50s', '9ms', '1m'],
  receivedDir: ['', false],
  shareTypes: [[], 'html', 'text,', ['text', 'group'], true],
  maxCopiedTextBytes: ['17MiB', '0'],
  maxCopiedImageBytes: ['65MiB', 0, 'none'],
  bus: [
    'broker:4222',
    'http://a',
    'nats://u:secretword@a',
    'nats://',
    'nats://a/b',
    'tls://a?q',
    [],
    5,
  ],
  busCredentials: ['', 5],
  busCa: ['', {}],
  recent: [-1, '101', 'all', true],
  notify: ['always', 2],
  notifyArrivals: ['on', true],
  logLevel: ['INFO', 'trace'],
  pairFirst: ['on'],
}
