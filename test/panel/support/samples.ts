/**
 * What is shown in the pictures of the panel: items of each kind, and some devices.
 * @module
 */

import { PNG } from 'pngjs'
import type { DaemonStatus, DeviceSummary } from '../../../src/ports/admin.ts'
import type { StoredItem } from '../../../src/ports/latest-item.ts'
import type { Happened, RecentItem } from '../../../src/ports/panel.ts'
import { bytesItem, bytesOfLate, textItem } from '../../control/support/items.ts'
import { deviceOf, NOW } from './showroom.ts'

const SECOND_MS = 1000
const HOUR_MS = 3600 * SECOND_MS

const TEXT = `Meet at the north entrance, 18:30.
Tickets are in the shared folder; the code for the bike shed is on the fridge.

https://example.org/map?pin=52.5163,13.3777`

export const STATUS: Partial<DaemonStatus> = {
  version: '0.1.0',
  startedAt: before(58 * HOUR_MS),
  storage: {
    dataDir: '/home/ann/.local/state/clipgate',
    stagedUploads: 1,
    stagedBytes: 3_500_000,
    freeBytes: 87_000_000_000,
    error: undefined,
  },
  listeners: [
    { name: 'gateway', urls: ['http://0.0.0.0:42720', 'http://[::]:42720'], error: undefined },
    { name: 'control', urls: ['http://127.0.0.1:42721'], error: undefined },
  ],
}

export const DEVICES: readonly DeviceSummary[] = [
  deviceOf({
    id: 'did_1',
    label: 'Pixel 9',
    username: 'mobile_1f2e3d4c',
    lastSeenAt: before(2 * SECOND_MS),
    lastSeenAddress: '192.168.1.31',
    lastClient: 'SyncClipboard/2.8.4 (Android 16; Pixel 9)',
    streams: 1,
  }),
  deviceOf({
    id: 'did_2',
    label: 'Ann’s iPad',
    username: 'mobile_99aa11bb',
    lastSeenAt: before(3 * HOUR_MS),
    lastSeenAddress: '192.168.1.44',
    lastClient: 'Mozilla/5.0 (iPad) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1',
  }),
  deviceOf({ id: 'did_3', label: 'attic', username: 'peer_0badcafe', kind: 'peer' }),
]

/** What happened in the last hours. */
export const HAPPENINGS: readonly Happened[] = (
  [
    { kind: 'pushed', device: 'did_1', label: 'Pixel 9', type: 'Text', size: 171 },
    { kind: 'copied', type: 'Image', size: 93_000 },
    { kind: 'refused', device: 'did_2', label: 'Ann’s iPad', times: 3, address: '192.168.1.44' },
    { kind: 'resumed' },
    { kind: 'paired', device: 'did_1', label: 'Pixel 9', by: 'panel' },
    { kind: 'paired', device: 'did_2', label: 'Ann’s iPad', by: 'command' },
  ] as const
).map((happened, index) => ({
  ...happened,
  id: 6 - index,
  at: before(((index + 1) * HOUR_MS) / 2),
}))

/** One item of each kind, by the name of its picture. */
export async function createItems(): Promise<Readonly<Record<string, StoredItem>>> {
  const bytes = PNG.sync.write(drawHills())
  const pdf = { dataName: 'Quarterly report, final (really).pdf', mediaType: 'application/pdf' }
  const zip = { dataName: 'Holiday.zip', mediaType: 'application/zip' }
  const minutes = 60 * SECOND_MS
  return {
    overview: aged(await textItem(TEXT), 42 * SECOND_MS),
    image: aged(await bytesItem({ dataName: 'hills.png', bytes }), 7 * minutes),
    file: aged(await bytesItem({ type: 'File', ...pdf, bytes, size: 4_812_345 }), 7 * minutes),
    group: aged(await bytesItem({ type: 'Group', ...zip, bytes, size: 93e6 }), 7 * minutes),
  }
}

function aged({ item, blob }: StoredItem, age: number): StoredItem {
  return { item: { ...item, activatedAt: NOW - age }, blob }
}

/** Three rows of hills before an evening sky. */
function drawHills(): PNG {
  const png = new PNG({ width: 480, height: 240 })
  for (let y = 0; y < png.height; y++) {
    for (let x = 0; x < png.width; x++) png.data.set(colourAt(x, y), (y * png.width + x) * 4)
  }
  return png
}

function colourAt(x: number, y: number): readonly number[] {
  const ridge = (base: number, height: number, width: number): number =>
    base + height * Math.sin(x / width) + (height / 3) * Math.sin(x / (width / 2.7))
  if (y > ridge(205, 12, 61)) return [24, 60, 54, 255]
  if (y > ridge(165, 20, 83)) return [46, 98, 88, 255]
  if (y > ridge(125, 22, 110)) return [104, 150, 138, 255]
  if ((x - 350) ** 2 + (y - 62) ** 2 < 26 ** 2) return [255, 240, 205, 255]
  const step = Math.floor(y / 12) * 12
  return [250 - step / 6, 214 - step / 3, 170 + step / 8, 255]
}

function before(ms: number): string {
  return new Date(NOW - ms).toISOString()
}

/** Recent items, of which the first is current, by their ids. */
export function createRecent(activatedAt: number): readonly RecentItem[] {
  const text = (words: string) => ({ type: 'Text', text: words, dataName: '' }) as const
  const file = (type: 'File' | 'Image', name: string) => ({ type, text: name, dataName: name })
  const phone = { kind: 'device', deviceId: 'did_1' } as const
  const copied = { kind: 'clipboard', deviceId: undefined } as const
  const items = [
    { ...text(TEXT), size: TEXT.length, sender: phone },
    { ...text('git rebase --onto main topic~3 topic'), size: 36, sender: copied },
    { ...file('Image', 'IMG_2041.jpg'), size: 2_481_000, sender: phone },
    { ...file('File', 'Invoice 2026-05.pdf'), size: 184_000, sender: copied },
  ]
  return items.map((item, index) => ({
    id: String(index),
    mediaType: '',
    contentHash: String(index),
    contentId: `blake3v1:${index}` as const,
    blob: bytesOfLate(''),
    readers: new Set<string>(),
    activatedAt: activatedAt - index * 7 * 60 * SECOND_MS,
    ...item,
  }))
}
