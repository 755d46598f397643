/**
 * The actions for a text besides copying it: opening the address in it, and showing it as a
 * code to the camera of another phone. Nothing of it happens by itself.
 * @module
 */

import { button, h, setAttribute, setText } from './dom.ts'
import { drawCode } from './draw-code.ts'
import { isChinese } from './language.ts'

/** In bytes: cameras read the code of a longer text badly off a screen. */
const MAX_CODE_BYTES = 800

/** Ends where a sentence around it may go on, in Chinese as well. */
const ADDRESS = /\bhttps?:\/\/[^\s<>"'`\u3000-\u303f\uff00-\uffef]{1,2000}/i

const words = isChinese
  ? {
      open: (host: string) => `打开 ${host}`,
      show: '以二维码显示',
      hide: '隐藏二维码',
      code: '此文本的二维码',
    }
  : {
      open: (host: string) => `Open ${host}`,
      show: 'Show as code',
      hide: 'Hide the code',
      code: 'This text as a QR code',
    }

interface ShownText {
  readonly text: string
  /** Whether that is all of it: an address at the end may be cut off otherwise. */
  readonly isWhole: boolean
  /** Said when the code cannot be had. */
  readonly failure: string
}

/** Creates those actions that a text has; `code` is where its code is shown. */
export function createTextActions({ text, isWhole, failure }: ShownText) {
  const code = h('figure', { class: 'code', hidden: true })
  const toggle = button(words.show, () => void show(code.hidden === true), {
    'aria-expanded': 'false',
  })
  const url = addressIn(text, isWhole)

  async function show(isWanted: boolean) {
    if (isWanted) code.replaceChildren(await draw())
    code.hidden = !isWanted
    setText(toggle, isWanted ? words.hide : words.show)
    setAttribute(toggle, 'aria-expanded', String(isWanted))
  }

  const draw = () =>
    import('./code.ts').then(
      ({ codeOf }) => drawCode(codeOf(text), words.code),
      () => failure,
    )

  const link = { class: 'button', target: '_blank', rel: 'noreferrer noopener' }
  const open = url ? [h('a', { ...link, href: url.href }, words.open(url.host))] : []
  const fits = isWhole && text.length <= MAX_CODE_BYTES && bytesOf(text) <= MAX_CODE_BYTES
  return { open, toggle: fits && text !== '' ? [toggle] : [], code }
}

function bytesOf(text: string) {
  return new TextEncoder().encode(text).length
}

/** The first web address in a text. It says where it leads, whatever stands before an `@`. */
function addressIn(text: string, isWhole: boolean): URL | undefined {
  const { 0: found = '', index = 0 } = ADDRESS.exec(text) ?? {}
  if (!isWhole && index + found.length === text.length) return undefined
  let end = found.length
  while (/[.,;:!?*\]}’”]/.test(found.charAt(end - 1)) || isLoneBracket(found.slice(0, end)))
    end -= 1
  try {
    return new URL(found.slice(0, end))
  } catch {
    // There is none, or it only looks like one.
    return undefined
  }
}

function isLoneBracket(address: string) {
  return address.endsWith(')') && address.split('(').length < address.split(')').length
}
