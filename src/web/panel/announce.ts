/** Says changes to screen readers, when they have a moment. Eyes see them anyway. @module */

import { h, setText } from '../shared/dom.ts'

/** Where {@link announce} says things. */
export const announcer = h('p', { class: 'unseen', role: 'status' })

/** Says a change. */
export function announce(text: string): void {
  setText(announcer, text)
}
