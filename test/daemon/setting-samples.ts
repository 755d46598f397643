/**
 * Good and bad values of every setting.
 *
 * @module
 */

import type { Settings } from '../../src/daemon/settings.ts'

/** Two good values for each setting: as JSON, as a shell spells them, and what they mean. */
export const GOOD: {
  readonly [Name in keyof Settings]: readonly (readonly [unknown, string, Settings[Name]])[]
} = {
  dataDir: [
    ['/a', '/a', '/a'],
    ['/b', '/b', '/b'],
  ],
  listen: [
    [
      ['127.0.0.1:0', '[::1]:5'],
      '127.0.0.1:0,[::1]:5',
      [
        { host: '127.0.0.1', port: 0 },
        { host: '::1', port: 5 },
      ],
    ],
    ['10.0.0.1:1', '10.0.0.1:1', [{ host: '10.0.0.1', port: 1 }]],
  ],
  control: [
    ['127.0.0.1:0', '127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['[::1]:9', '[::1]:9', { host: '::1', port: 9 }],
  ],
  headless: [
    [true, 'true', true],
    [false, '0', false],
  ],
  clipboard: [
    ['x11', 'x11', 'x11'],
    ['none', 'none', 'none'],
  ],
  publicUrl: [
    ['https://a.example/', 'https://a.example/', 'https://a.example'],
    ['http://b:8080/c//', 'http://b:8080/c//', 'http://b:8080/c'],
  ],
  allowPublic: [
    [true, '1', true],
    [false, 'false', false],
  ],
  trustedProxies: [
    [['10.0.0.1'], '10.0.0.1', ['10.0.0.1']],
    [['fd00::/8', '10.0.0.0/8'], 'fd00::/8, 10.0.0.0/8', ['fd00::/8', '10.0.0.0/8']],
  ],
  maxConnections: [
    [10, '10', 10],
    ['20', '20', 20],
  ],
  maxConnectionsPerAddress: [
    [10, '10', 10],
    ['20', '20', 20],
  ],
  grace: [
    [8, '8', 8000],
    ['500ms', '500ms', 500],
  ],
  maxFileBytes: [
    [1024, '1024', 1024],
    ['2GiB', '2GiB', 2 ** 31],
  ],
  maxMetadataBytes: [
    [1024, '1024', 1024],
    ['1MiB', '1MiB', 2 ** 20],
  ],
  stagingTtl: [
    [0.5, '0.5', 500],
    ['1h', '1h', 3_600_000],
  ],
  stagingQuotaBytes: [
    [5, '5', 5],
    ['1.5KiB', '1.5KiB', 1536],
  ],
  minFreeBytes: [
    [0, '0', 0],
    ['1KiB', '1KiB', 1024],
  ],
  verifyWorkers: [
    [1, '1', 1],
    [2, '2', 2],
  ],
  verifyQueue: [
    [1, '1', 1],
    [64, '64', 64],
  ],
  heartbeat: [
    [20, '20', 20_000],
    ['1s', '1s', 1000],
  ],
  receivedDir: [
    ['/a', '/a', '/a'],
    ['/b', '/b', '/b'],
  ],
  shareTypes: [
    [['text'], 'text', ['text']],
    [['image', 'files'], 'image, files', ['image', 'files']],
  ],
  maxCopiedTextBytes: [
    [1024, '1024', 1024],
    ['1MiB', '1MiB', 2 ** 20],
  ],
  maxCopiedImageBytes: [
    [1, '1', 1],
    ['64MiB', '64MiB', 2 ** 26],
  ],
  bus: [
    ['nats://broker:4222', 'nats://broker:4222', ['nats://broker:4222']],
    [['tls://a/', 'nats://[::1]:5'], 'tls://a/, nats://[::1]:5', ['tls://a', 'nats://[::1]:5']],
  ],
  busCredentials: [
    ['/a.creds', '/a.creds', '/a.creds'],
    ['/b', '/b', '/b'],
  ],
  busCa: [
    ['/ca.pem', '/ca.pem', '/ca.pem'],
    ['/b', '/b', '/b'],
  ],
  notify: [
    [true, 'true', true],
    [false, '0', false],
  ],
  logLevel: [
    ['debug', 'debug', 'debug'],
    ['error', 'error', 'error'],
  ],
  pairFirst: [
    [true, 'true', true],
    [false, 'false', false],
  ],
}

export const BAD: { readonly [Name in keyof Settings]: readonly unknown[] } = {
  dataDir: ['', 5, 'a\0b'],
  listen: ['42720', ['127.0.0.1'], [5], 'a:1,,b:2', []],
  control: ['0.0.0.0:1', '10.0.0.1:42721', '[::]:1', 'example.com:1', 'x'],
  headless: ['yes', 1, 'TRUE'],
  clipboard: ['X11', 'gnome', true],
  publicUrl: ['clip.example', 'ftp://a', 'http://u:secretword@a', 'http://a/?q', 'http://a/#f', 5],
  allowPublic: ['maybe', {}],
  trustedProxies: ['proxy', '10.0.0.1/33', 'fd00::/129', '10.0.0.0/', '1.2.3.4/5/6', [4]],
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
  notify: ['always', 2],
  logLevel: ['INFO', 'trace'],
  pairFirst: ['on'],
}
