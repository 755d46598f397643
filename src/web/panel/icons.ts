/**
 * The pictures of the page. Each stands beside words that say the same, so none has a name.
 * @module
 */

import { svg } from '../shared/dom.ts'

/** Outlines in a square of 24. */
const PATHS = {
  Text: 'M5 6h14M5 10.5h14M5 15h9M5 19.5h6',
  Image: 'M4 5h16v14H4zM4 16l4.5-4.5 3.5 3.5 3-3 5 5M15.5 9.2h.01',
  File: 'M6 3h8l4 4v14H6zM14 3v4h4',
  Group: 'M8 3h7l4 4v11H8zM15 3v4h4M8 6.5H5V21h10v-3',
  phone: 'M7 2.5h10v19H7zM11 18.5h2',
  peer: 'M3.5 5h17v11h-17zM8.5 20h7M12 16v4',
  warning: 'M12 4 2.8 20h18.4zM12 10v5M12 17.6v.1',
  check: 'M4.5 12.5l5 5 10-11',
  terminal: 'M3 5h18v14H3zM7 10l3 2.5L7 15M12.5 15H17',
  empty: 'M9 4.5H6V21h12V4.5h-3M9 3h6v3.5H9z',
}

type IconName = keyof typeof PATHS

/** Draws an icon. */
export function icon(name: IconName) {
  const outline = svg('path', { d: PATHS[name] })
  return svg('svg', { class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true' }, outline)
}
