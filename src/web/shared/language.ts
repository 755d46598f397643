/** The language of this browser: each page has its words in English and in Chinese. @module */

/** Whether pages are in Simplified Chinese. Tests read words where there is no browser. */
export const isChinese: boolean = /^zh/i.test(globalThis.navigator?.language ?? '')
