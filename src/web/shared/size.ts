/** Sizes for people, in the language of the page. @module */

import { formatBytes as inWords } from '../../lib/format-bytes.ts'

/** A number of bytes in words: `1.5 MiB`, `17 bytes`, `17 字节`. */
export function formatBytes(bytes: number): string {
  const isChinese = document.documentElement.lang.startsWith('zh')
  return inWords(bytes, isChinese ? (count) => `${count} 字节` : undefined)
}
