/** The language of this browser: each page has its words in English and in Chinese. @module */

import { formatBytes as inWords } from '../../lib/format-bytes.ts'

/** Whether pages are in Simplified Chinese. Tests read words where there is no browser. */
export const isChinese: boolean = /^zh/i.test(globalThis.navigator?.language ?? '')

/** A number of bytes in words: `1.5 MiB`, `17 bytes`, `17 字节`. */
export function formatBytes(bytes: number): string {
  return inWords(bytes, isChinese ? (count) => `${count} 字节` : undefined)
}
