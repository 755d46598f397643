/** Makes visible what a terminal or a reader of text from outside would obey. @module */

const OBEYED: RegExp = new RegExp(
  [
    // Controls, with which escape sequences begin, and halves of surrogate pairs.
    '[\\p{Cc}\\p{Cs}',
    // Characters that change the direction of text, or end a line.
    '\\p{Bidi_Control}\\p{Zl}\\p{Zp}',
    // Characters that nobody sees. Joiners stay: scripts and emoji need them.
    '\\u00ad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b\\u2060-\\u2064\\u206a-\\u206f\\u3164',
    '\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}]',
  ].join(''),
  'gu',
)

/** Spells every such character of `text` as `\u{…}`, and leaves everything else unchanged. */
export function visible(text: string): string {
  return text.replace(OBEYED, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
  })
}

/** Makes a text of several lines visible; its line ends and tabs stay. */
export function visibleLines(text: string): string {
  const parts = text.split(/(\r?\n|\t)/)
  return parts.map((part, index) => (index % 2 === 0 ? visible(part) : part)).join('')
}

/** Makes a JSON text visible, which stays JSON of the same value. */
export function visibleJson(json: string): string {
  return json.replace(OBEYED, (character) => {
    // JSON escapes UTF-16 code units, of which a character has one or two.
    const units = Array.from({ length: character.length }, (_, index) =>
      character.charCodeAt(index),
    )
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
  })
}
