/**
 * Compares answers with what docs/openapi.yaml says about them.
 * @module
 */

import type { ValidateFunction } from 'ajv'
import { HttpError, type HttpErrorCode } from '../../../src/http/http-error.ts'
import {
  codesOf,
  followReference,
  type ApiResponse,
  type Header,
  type MediaType,
  type OpenApiDocument,
  type Operation,
} from './api-description.ts'
import type { Answer } from './station.ts'
import { createValidator, describeErrors } from './validator.ts'

const PROBLEM = 'application/problem+json'

/** What HTTP adds to any answer; the rest belongs to the contract. */
const PLUMBING = [
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
]

export class AnswerCheck {
  readonly #document: OpenApiDocument
  readonly #validator = createValidator()
  readonly #compiled = new WeakMap<object, ValidateFunction>()

  constructor(document: OpenApiDocument) {
    this.#document = document
  }

  /** What of an answer the operation does not allow. */
  faultsOf(operation: Pick<Operation, 'method' | 'responses'>, answer: Answer): readonly string[] {
    const response = operation.responses[answer.status] ?? operation.responses['default']
    if (response === undefined) return [`the status ${answer.status} is not documented`]
    return [
      ...this.#headerFaults(response, answer),
      ...this.#bodyFaults(response, answer, operation.method === 'HEAD'),
    ]
  }

  /** What of a value a schema does not allow. */
  valueFaults(schema: object, value: unknown): readonly string[] {
    const validate = this.compile(schema)
    return validate(value) ? [] : describeErrors(validate)
  }

  /** What of an event stream is not as its media type says. */
  eventFaults({ 'x-events': events = {} }: MediaType, stream: string): readonly string[] {
    return parseFrames(stream).flatMap(({ event, data }) => {
      const schema = events[event]
      if (schema === undefined) return [`the event "${event}" is not documented`]
      return this.valueFaults(schema, JSON.parse(data))
    })
  }

  #headerFaults({ headers = {} }: ApiResponse, { headers: sent }: Answer): readonly string[] {
    const known = Object.keys(headers).map((name) => name.toLowerCase())
    const unknown = Object.keys(sent).filter((name) => ![...known, ...PLUMBING].includes(name))
    const faults = Object.entries(headers).flatMap(([name, value]) => {
      const { required = false, schema } = followReference<Header>(this.#document, value)
      const text = sent[name.toLowerCase()]
      if (text === undefined) return required ? [`${name} is missing`] : []
      const isNumber = 'type' in schema && schema.type === 'integer'
      return this.valueFaults(schema, isNumber ? Number(text) : text).map(
        (fault) => `${name}: ${fault}`,
      )
    })
    return [...unknown.map((name) => `the header ${name} is not documented`), ...faults]
  }

  #bodyFaults({ content }: ApiResponse, answer: Answer, isHead: boolean): readonly string[] {
    const { 'content-type': type } = answer.headers
    if (content === undefined) {
      return answer.body === '' && type === undefined ? [] : ['a body is not documented']
    }
    const essence = type?.split(';')[0] ?? ''
    const media = content[essence] ?? (essence === '' ? undefined : content['*/*'])
    if (media === undefined) return [`the media type "${essence}" is not documented`]
    if (isHead) return answer.body === '' ? [] : ['an answer to HEAD has no body']
    if (essence === PROBLEM) return this.#problemFaults(media, answer)
    return this.#mediaFaults(media, essence, answer.body)
  }

  #mediaFaults(media: MediaType, essence: string, body: string): readonly string[] {
    if (essence === 'text/event-stream') return this.eventFaults(media, body)
    if (media.schema === undefined) return []
    return this.valueFaults(media.schema, essence === 'application/json' ? parseJson(body) : body)
  }

  #problemFaults(media: MediaType, { status, body }: Answer): readonly string[] {
    const problem = parseJson(body)
    const faults = media.schema === undefined ? [] : this.valueFaults(media.schema, problem)
    const said =
      typeof problem === 'object' && problem !== null && 'status' in problem && problem.status
    return said === status ? faults : [...faults, `the body says ${String(said)}, not ${status}`]
  }

  /** @throws {Error} When the schema is not sound. */
  compile(schema: object): ValidateFunction {
    const known = this.#compiled.get(schema)
    if (known !== undefined) return known
    const { schemas } = this.#document.components
    // References begin at the root of the document.
    const validate = this.#validator.compile({ ...schema, components: { schemas } })
    this.#compiled.set(schema, validate)
    return validate
  }
}

/**
 * Every answer that an operation documents: a success by its status alone, a failure by its code
 * too. What `default` says about a status that is listed as well never comes to pass.
 */
export function documentedAnswers({ responses }: Operation): readonly string[] {
  return Object.entries(responses).flatMap(([key, response]) => {
    const codes = codesOf(response)
    if (codes.length === 0) return [key]
    return codes
      .filter((code) => key !== 'default' || responses[statusOf(code)] === undefined)
      .map((code) => `${statusOf(code)} ${code}`)
  })
}

export function statusOf(code: HttpErrorCode): number {
  return new HttpError(code).status
}

/** The code of a problem. */
export function codeIn({ headers, body }: Answer): unknown {
  if (headers['content-type'] !== PROBLEM || body === '') return undefined
  const problem = parseJson(body)
  return typeof problem === 'object' && problem !== null && 'code' in problem
    ? problem.code
    : undefined
}

interface Frame {
  readonly event: string
  readonly data: string
}

/** The events of a stream; comments are left out, and so is what is not complete yet. */
export function parseFrames(stream: string): readonly Frame[] {
  const blocks = stream.split('\n\n').slice(0, -1)
  return blocks.flatMap((block) => {
    const { event, data } = /^event: (?<event>.*)\ndata: (?<data>.*)$/.exec(block)?.groups ?? {}
    if (event !== undefined && data !== undefined) return [{ event, data }]
    if (block.split('\n').every((line) => line.startsWith(':'))) return []
    throw new Error(`Not a frame: ${JSON.stringify(block)}`)
  })
}

/** Bodies are latin1 here, and UTF-8 on the wire. */
export function parseJson(body: string): unknown {
  return JSON.parse(Buffer.from(body, 'latin1').toString())
}
