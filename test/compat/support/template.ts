/**
 * Text with `{{names}}` in it, which become bytes when a scenario is replayed.
 *
 * @module
 */

/** What names stand for. */
export type Values = ReadonlyMap<string, Uint8Array>

export interface Template {
  /** Literal bytes, and names. */
  readonly parts: readonly (Uint8Array | string)[]
}

const NAME = /^[A-Za-z][\w-]*$/

/** @throws {SyntaxError} when braces do not enclose a name. */
export function parseTemplate(text: string): Template {
  const parts: (Uint8Array | string)[] = []
  let rest = text
  for (let open = rest.indexOf('{{'); open !== -1; open = rest.indexOf('{{')) {
    const close = rest.indexOf('}}', open)
    const name = close === -1 ? '' : rest.slice(open + 2, close)
    if (!NAME.test(name)) throw new SyntaxError('"{{" opens no {{name}}')
    parts.push(Buffer.from(rest.slice(0, open)), name)
    rest = rest.slice(close + 2)
  }
  return { parts: [...parts, Buffer.from(rest)] }
}

/** The names that a template needs. */
export function namesIn(template: Template): readonly string[] {
  return template.parts.filter((part) => typeof part === 'string')
}

/** @throws {Error} when a name stands for nothing. */
export function fillTemplate(template: Template, values: Values): Buffer {
  return Buffer.concat(
    template.parts.map((part) => (typeof part === 'string' ? bytesOf(part, values) : part)),
  )
}

function bytesOf(name: string, values: Values): Uint8Array {
  const value = values.get(name)
  if (value === undefined) throw new Error(`{{${name}}} stands for nothing`)
  return value
}
