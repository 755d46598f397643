/**
 * Parses a request of a fixture, from its `>>>` on, and what is wanted of the answer.
 *
 * @module
 */

import type { Check, Exchange, Step } from './client-script.ts'
import { parseItem } from './parse-item.ts'
import type { ScriptLines } from './script-lines.ts'

const REQUEST_LINE = /^([A-Z]+) \S+ HTTP\/1\.[01]$/

const FIELD = /^[\w!#$%&'*+.^`|~-]+:.*$|^\{\{[\w-]+\}\}$/

/** What changes the clipboard, when it succeeds. */
const PUSH = /^(?:PUT \/*Sync(?:Clipboard)?\.json|POST \/*api\/history)\/?(?:\?\S*)? /

const KEEP = /^([A-Za-z][\w-]*) = (body$|header(?= )|json(?= ))(?: (\S+))?$/

const STATUS = /^[2-5](?:\d\d|xx)$/

interface Options {
  readonly chunks: readonly number[] | undefined
  readonly lineEnd: '\n' | '\r\n'
  readonly awaitsContinue: boolean
  readonly opens: boolean
  readonly closes: boolean
}

export function parseExchange(words: string, lines: ScriptLines): Step {
  const at = lines.line
  const { lineEnd, ...options } = parseOptions(words, lines)
  const pushes = parsePushes(lines)
  const head = readHead(lines)
  const method = REQUEST_LINE.exec(head[0] ?? '')?.[1] ?? ''
  if (PUSH.test(head[0] ?? '') !== (pushes !== undefined)) {
    throw lines.error('a push says what it "pushes", and nothing else does')
  }
  const body = readBody(lines, lineEnd)
  checkFraming(head, body, options, lines)

  const statuses = lines.next().slice('<<<'.length).split(' ').filter(Boolean)
  if (statuses.length === 0 || !statuses.every((status) => STATUS.test(status))) {
    throw lines.error('"<<<" wants statuses, such as 200 or 2xx')
  }
  return {
    kind: 'exchange',
    line: at,
    method,
    head: lines.template(head.join('\r\n')),
    body: lines.template(body),
    ...options,
    pushes,
    statuses,
    checks: parseChecks(lines),
  }
}

function parseOptions(words: string, lines: ScriptLines): Options {
  const given = new Set(words.split(' ').filter(Boolean))
  const chunks = [...given].find((word) => /^chunks=\d+(?:,\d+)*$/.test(word))
  const options: Options = {
    chunks: chunks?.slice('chunks='.length).split(',').map(Number),
    lineEnd: given.delete('crlf') ? '\r\n' : '\n',
    awaitsContinue: given.delete('continue'),
    opens: given.delete('opens'),
    closes: given.delete('closes'),
  }
  if (chunks !== undefined) given.delete(chunks)
  const [unknown] = given
  if (unknown !== undefined) throw lines.error(`">>>" does not know ${unknown}`)
  return options
}

function parsePushes(lines: ScriptLines): Exchange['pushes'] {
  if (lines.peek()?.startsWith('pushes ') !== true) return undefined
  const what = lines.next().slice('pushes '.length)
  return what === 'nothing' ? what : parseItem(what, lines)
}

function readHead(lines: ScriptLines): readonly string[] {
  const head = [lines.next()]
  if (!REQUEST_LINE.test(head[0] ?? '')) throw lines.error('this is no request line')
  for (let line = lines.next(); line !== ''; line = lines.next()) {
    if (!FIELD.test(line)) throw lines.error('this is no header field; an empty line ends the head')
    head.push(line)
  }
  return head
}

/** Everything up to `<<<`; the end of its last line is not part of it. */
function readBody(lines: ScriptLines, lineEnd: string): string {
  const body: string[] = []
  while (lines.peek()?.startsWith('<<<') !== true) body.push(lines.next())
  return body.join(lineEnd)
}

/** A fixture whose body nobody announces would be two requests. */
function checkFraming(
  head: readonly string[],
  body: string,
  { chunks, awaitsContinue }: Omit<Options, 'lineEnd'>,
  lines: ScriptLines,
): void {
  const has = (field: RegExp) => head.some((line) => field.test(line))
  if (has(/^transfer-encoding: *chunked$/i) !== (chunks !== undefined)) {
    throw lines.error('"chunks=" and "Transfer-Encoding: chunked" go together')
  }
  if (body !== '' && chunks === undefined && !has(/^content-length: *\{\{length\}\}$/i)) {
    throw lines.error('a body wants "Content-Length: {{length}}", or chunks')
  }
  if (awaitsContinue && !has(/^expect: *100-continue$/i)) {
    throw lines.error('who awaits "continue" says "Expect: 100-continue"')
  }
}

/** The lines after `<<<`, up to an empty one. */
function parseChecks(lines: ScriptLines): readonly Check[] {
  const checks: Check[] = []
  const known = new Set<string>()
  while ((lines.peek() ?? '') !== '') {
    const check = parseCheck(lines.next(), lines)
    const subject = subjectOf(check)
    if (known.has(subject)) throw lines.error('this is said twice')
    known.add(subject)
    checks.push(check)
  }
  return checks
}

/** Two lines about one thing would contradict each other, or one of them is not needed. */
function subjectOf(check: Check): string {
  if ('name' in check) return `${check.kind} ${check.name.toLowerCase()}`
  return 'field' in check ? `${check.kind} ${check.field}` : check.kind
}

function parseCheck(text: string, lines: ScriptLines): Check {
  const { line } = lines
  if (text === 'empty') return { kind: 'body', line, value: lines.template('') }
  const [, keyword = '', rest = ''] = /^(json|body|without|no|keep) (.+)$/.exec(text) ?? []
  if (keyword === 'json' || keyword === 'body') {
    return { kind: keyword, line, value: lines.template(rest) }
  }
  if (keyword === 'without') return { kind: 'without', line, field: rest }
  if (keyword === 'no') return { kind: 'no-header', line, name: rest }
  if (keyword === 'keep') return parseKeep(rest, lines)
  const [, name, value = ''] = /^([\w-]+): (.+)$/.exec(text) ?? []
  if (name === undefined) throw lines.error('this is nothing that an answer can be')
  return { kind: 'header', line, name, value: value === '*' ? undefined : lines.template(value) }
}

/** `keep etag = header ETag`, `keep hash = json hash`, `keep bytes = body` */
function parseKeep(text: string, lines: ScriptLines): Check {
  const { line } = lines
  const [, name = '', source, key = ''] = KEEP.exec(text) ?? []
  if (source !== 'header' && source !== 'json' && source !== 'body') {
    throw lines.error('"keep" wants "name = header X", "name = json x" or "name = body"')
  }
  return { kind: 'keep', line, name, source, key }
}
