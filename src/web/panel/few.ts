/** Lists that show their newest few until somebody wants to see all. @module */

import { button, setText } from '../shared/dom.ts'
import { strings } from './strings.ts'

const FEW = 5

/** @param onSwitch Called when more or fewer are to be shown. */
export function createFew(onSwitch: () => void) {
  let showsAll = false
  const element = button('', () => {
    showsAll = !showsAll
    onSwitch()
  })

  /** Those of these values that are shown. */
  function take<Value>(values: readonly Value[]) {
    element.hidden = values.length <= FEW
    setText(element, showsAll ? strings.few.few : strings.few.all(values.length))
    return showsAll ? values : values.slice(0, FEW)
  }

  return { button: element, take }
}
