/** The language of this browser: each page has its words in English and in Chinese. @module */

import { formatBytes as inWords } from '../../lib/format-bytes.ts'

/** Whether pages are in Simplified Chinese. Tests read words where there is no browser. */
export const isChinese: boolean = /^zh/i.test(globalThis.navigator?.language ?? '')

/** Hours as clocks have them where the browser is, 1 to 12 or 0 to 23, in whatever language. */
export const { hourCycle }: Pick<Intl.ResolvedDateTimeFormatOptions, 'hourCycle'> =
  new Intl.DateTimeFormat(globalThis.navigator?.language, { hour: 'numeric' }).resolvedOptions()

/** A number of bytes in words: `1.5 MiB`, `17 bytes`, `17 字节`. */
export function formatBytes(bytes: number): string {
  return inWords(bytes, isChinese ? (count) => `${count} 字节` : undefined)
}
