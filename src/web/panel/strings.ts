/** Every word of the panel, in the language of this browser. @module */

import { isChinese } from '../shared/language.ts'
import { chinese } from './chinese.ts'
import { english, type Words } from './english.ts'

export const strings: Words = isChinese ? chinese : english
