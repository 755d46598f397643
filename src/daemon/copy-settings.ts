/**
 * The settings that say what is shared of that which a person copies.
 *
 * @module
 */

import { MAX_CLIPBOARD_IMAGE_BYTES, MAX_METADATA_BYTES } from '../core/limits.ts'
import { bytes, choice, list, type Setting } from './setting-kinds.ts'

const COPY_KINDS = ['text', 'image', 'files'] as const

export interface CopySettings {
  readonly shareTypes: readonly (typeof COPY_KINDS)[number][]
  readonly maxCopiedTextBytes: number
  readonly maxCopiedImageBytes: number
}

export const COPY_SETTINGS: {
  readonly [Name in keyof CopySettings]: Setting<CopySettings[Name]>
} = {
  shareTypes: {
    kind: list(choice(COPY_KINDS), { min: 1 }),
    fallback: () => COPY_KINDS,
    byDefault: 'all',
    meaning: 'what is shared of that which is copied here',
  },
  maxCopiedTextBytes: {
    kind: bytes(1, MAX_METADATA_BYTES),
    fallback: () => MAX_METADATA_BYTES,
    byDefault: '16MiB',
    meaning: 'largest text that is shared when it is copied here',
  },
  maxCopiedImageBytes: {
    kind: bytes(1, MAX_CLIPBOARD_IMAGE_BYTES),
    fallback: () => MAX_CLIPBOARD_IMAGE_BYTES,
    byDefault: '64MiB',
    meaning: 'largest image that is shared when it is copied here',
  },
}
