/**
 * Does what a table of docs/guides/phones.md tells the app Shortcuts to do, action by action: a
 * variable is the result of the nearest action above.
 * @module
 */

import assert from 'node:assert/strict'
import { findRows } from './guide-rows.ts'

/** A photo or a file, as the share sheet hands it over. */
export interface SharedFile {
  readonly name: string
  readonly extension: string
  readonly bytes: Buffer<ArrayBuffer>
}

/** What `URL` and `USER:PASSWORD` stand for on the page, and what the phone has. */
export interface ShortcutSituation {
  readonly url: string
  readonly login: string
  readonly clipboard?: string
  readonly shared?: readonly SharedFile[]
}

type Value = string | Buffer<ArrayBuffer> | SharedFile | readonly SharedFile[]

interface Step {
  readonly action: string
  readonly fields: ReadonlyMap<string, string>
}

/** As the action sends it. */
const AGENT = 'BackgroundShortcutRunner/3036.0.4.2 CFNetwork/3826.400.120 Darwin/24.3.0'

/** Runs a shortcut of the page. @returns What it has put on the clipboard of the phone. */
export async function runShortcut(
  page: string,
  section: string,
  situation: ShortcutSituation,
): Promise<Value | undefined> {
  const phone = new ShortcutsApp(situation)
  await phone.run(readSteps(page, section))
  return phone.copied
}

function readSteps(page: string, section: string): readonly Step[] {
  const steps: { action: string; fields: Map<string, string> }[] = []
  for (const [number = '', action = '', field = '', value = ''] of findRows(page, section)) {
    if (number !== '') {
      assert.equal(Number(number), steps.length + 1, 'steps are counted')
      steps.push({ action, fields: new Map() })
    }
    if (field !== '') steps.at(-1)?.fields.set(field, value)
  }
  return steps
}

class ShortcutsApp {
  copied: Value | undefined
  readonly #situation: ShortcutSituation
  readonly #results = new Map<string, Value>()

  constructor(situation: ShortcutSituation) {
    this.#situation = situation
    if (situation.shared !== undefined) this.#results.set('Shortcut Input', situation.shared)
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (let at = 0; at < steps.length; at++) {
      const { action, fields } = steps[at] ?? assert.fail('there is a step')
      const within = (end: string): readonly Step[] => {
        const to = steps.findIndex((step, index) => index > at && step.action === end)
        assert.ok(to > at, `"${action}" has its "${end}"`)
        const inner = steps.slice(at + 1, to)
        at = to
        return inner
      }
      if (action === 'If') {
        const isSo = this.#holds(fields.get('Condition') ?? '')
        const [first, second] = [within('Otherwise'), within('End If')]
        await this.run(isSo ? first : second)
      } else if (action === 'Repeat with Each') {
        const items = this.#value(fields.get('Items') ?? '')
        assert.ok(Array.isArray(items))
        const inner = within('End Repeat')
        for (const item of items) {
          this.#results.set('Repeat Item', item)
          await this.run(inner)
        }
      } else await this.#do(action, fields)
    }
  }

  async #do(action: string, fields: ReadonlyMap<string, string>): Promise<void> {
    const field = (name: string) => fields.get(name) ?? assert.fail(`"${action}" has "${name}"`)
    const text = (name: string) => this.#text(field(name))
    if (action === 'Text') this.#results.set('Text', text('Text'))
    else if (action === 'Base64 Encode') {
      assert.deepEqual([text('Mode'), text('Line Breaks')], ['Encode', 'None'])
      this.#results.set('Base64 Encoded', Buffer.from(text('Input')).toString('base64'))
    } else if (action === 'Get Clipboard') {
      this.#results.set('Clipboard', this.#situation.clipboard ?? '')
    } else if (action === 'URL Encode') {
      this.#results.set('URL Encoded Text', encodeURIComponent(text('Input')))
    } else if (action === 'Get Details of Files') {
      const file = this.#value(field('Input'))
      assert.ok(typeof file === 'object' && 'extension' in file)
      this.#results.set(text('Detail'), file.extension)
    } else if (action === 'Get Dictionary Value') {
      const dictionary: Record<string, unknown> = JSON.parse(text('Dictionary'))
      this.#results.set('Dictionary Value', String(dictionary[text('Get Value for')]))
    } else if (action === 'Copy to Clipboard') this.copied = this.#value(field('Input'))
    else if (action === 'Get Contents of URL') {
      this.#results.set('Contents of URL', await this.#ask(fields))
    } else assert.fail(`there is an action "${action}"`)
  }

  async #ask(fields: ReadonlyMap<string, string>): Promise<Buffer<ArrayBuffer>> {
    const named = (prefix: RegExp) =>
      [...fields].flatMap(([name, value]) => {
        const [, rest] = prefix.exec(name) ?? []
        return rest === undefined ? [] : [[rest, value] as const]
      })
    const headers = new Headers({ 'user-agent': AGENT })
    for (const [name, value] of named(/^Header (.+)$/)) headers.set(name, this.#text(value))
    const kind = fields.has('Request Body') ? this.#text(fields.get('Request Body') ?? '') : ''
    let body: string | Buffer<ArrayBuffer> | null = null
    if (kind === 'JSON') {
      headers.set('content-type', 'application/json')
      const texts = named(/^Text `(.+)`$/).map(
        ([name, value]) => [name, this.#text(value)] as const,
      )
      const truths = named(/^Boolean `(.+)`$/).map(
        ([name, value]) => [name, this.#text(value) === 'true'] as const,
      )
      body = JSON.stringify(Object.fromEntries([...texts, ...truths]))
    } else if (kind === 'File') {
      const file = this.#value(fields.get('File') ?? '')
      assert.ok(typeof file === 'object' && 'bytes' in file)
      body = file.bytes
    } else assert.equal(kind, '')
    const method = this.#text(fields.get('Method') ?? '')
    const answer = await fetch(this.#text(fields.get('URL') ?? ''), { method, headers, body })
    // The app goes on whatever the status is.
    return Buffer.from(await answer.arrayBuffer())
  }

  #holds(condition: string): boolean {
    const [, variable = '', expected = ''] = /^(\[.+\]) `is` (`.+`)$/.exec(condition) ?? []
    return this.#text(variable) === this.#text(expected)
  }

  #value(cell: string): Value {
    const [, name = ''] = /^\[([^\]]+)\]$/.exec(cell) ?? assert.fail(`${cell} is a variable`)
    return this.#results.get(name) ?? assert.fail(`an action above has the result "${name}"`)
  }

  /** Puts texts and variables together. */
  #text(cell: string): string {
    assert.match(cell, /^(?:`[^`]+`|\[[^\]]+\]| )+$/)
    const { url, login } = this.#situation
    const parts = [...cell.matchAll(/`([^`]+)`|(\[[^\]]+\])/g)].map(([, literal, variable]) => {
      if (literal !== undefined) return literal.replace('USER:PASSWORD', login).replace(/^URL/, url)
      const value = this.#value(variable ?? '')
      if (typeof value === 'string') return value
      if (Buffer.isBuffer(value)) return value.toString()
      return 'name' in value ? value.name : assert.fail('a list is no text')
    })
    return parts.join('')
  }
}
