/** The language of this browser: each page has its words in English and in Chinese. @module */

import { formatBytes as inWords } from '../../lib/format-bytes.ts'

/** Tests read words where there is no browser. */
const language = globalThis.navigator?.language ?? ''

/** Some tell a locale, or an old form, which is no tag: `en_GB`, `C`, `sr-RS@latin`, `no-NO-NY`. */
const [tag] =
  /^[a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?\b/i.exec(language.replaceAll('_', '-')) ?? []

/** Whether pages are in Simplified Chinese. */
export const isChinese: boolean = /^zh/i.test(language)

/** Hours as clocks have them where the browser is, 1 to 12 or 0 to 23, in whatever language. */
export const { hourCycle }: Pick<Intl.ResolvedDateTimeFormatOptions, 'hourCycle'> =
  new Intl.DateTimeFormat(tag, { hour: 'numeric' }).resolvedOptions()

/** A number of bytes in words: `1.5 MiB`, `17 bytes`, `17 字节`. */
export function formatBytes(bytes: number): string {
  return inWords(bytes, isChinese ? (count) => `${count} 字节` : undefined)
}
