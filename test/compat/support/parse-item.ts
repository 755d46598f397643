/**
 * Parses how a fixture names a clipboard item.
 *
 * @module
 */

import type { ItemTemplate } from './client-script.ts'
import type { ScriptLines } from './script-lines.ts'

/** `Text hello` or `Image name.png {{bytes}}` */
export function parseItem(text: string, lines: ScriptLines): ItemTemplate {
  const [, plain] = /^Text (.+)$/.exec(text) ?? []
  if (plain !== undefined) return { type: 'Text', text: lines.template(plain) }
  const [, type, dataName = '', bytes = ''] = /^(\w+) (.+) (\{\{[\w-]+\}\})$/.exec(text) ?? []
  if (type !== 'Image' && type !== 'File' && type !== 'Group') {
    throw lines.error('an item is "Text …" or "Image name {{bytes}}"')
  }
  return { type, dataName: lines.template(dataName), bytes: lines.template(bytes) }
}
