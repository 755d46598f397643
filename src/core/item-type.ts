/** The kinds of clipboard items, in the spelling of the protocol. @module */

export type ItemType = 'Text' | 'Image' | 'File' | 'Group'

/** Every {@link ItemType}, for checking values that came from outside. */
export const ITEM_TYPES: readonly ItemType[] = ['Text', 'Image', 'File', 'Group']

/** The item type that `value` names, in any letter case; `undefined` when it names none. */
export function parseItemType(value: string): ItemType | undefined {
  if (value.length > 'Group'.length) return undefined
  const name = value.toLowerCase()
  return ITEM_TYPES.find((type) => type.toLowerCase() === name)
}

/** Whether clients hash an item of this type in ways of their own. */
export function isFileLike(type: ItemType): boolean {
  return type === 'Image' || type === 'File'
}
