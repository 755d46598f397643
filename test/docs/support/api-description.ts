/**
 * docs/openapi.yaml, as typed data.
 *
 * Only what the tests look at has a type here; `open-api-form.ts` says what else may be there.
 * @module
 */

import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { HttpErrorCode } from '../../../src/http/http-error.ts'
import { OPEN_API_FORM } from './open-api-form.ts'
import { createValidator, describeErrors } from './validator.ts'

type Map<Value> = Readonly<Record<string, Value>>

export interface Reference {
  readonly $ref: string
}

/** What is looked at: the codes of a problem, the names of fields. */
interface Schema {
  readonly $ref?: string
  readonly properties?: Map<object> & {
    readonly code?: { readonly const?: HttpErrorCode; readonly enum?: readonly HttpErrorCode[] }
  }
  readonly oneOf?: readonly Schema[]
}

export interface MediaType {
  readonly schema?: Schema
  readonly examples?: Map<{ readonly value: unknown }>
  readonly 'x-events'?: Map<Schema>
}

export interface Header {
  readonly required?: boolean
  readonly schema: Schema
}

export interface ApiResponse {
  readonly headers?: Map<Header | Reference>
  readonly content?: Map<MediaType>
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
}

interface OperationObject {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly security?: readonly object[]
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: { readonly content: Map<MediaType> } | Reference
  readonly responses: Map<ApiResponse | Reference>
}

const METHODS = ['get', 'head', 'put', 'post', 'patch', 'delete', 'options'] as const

interface PathItem extends Partial<Readonly<Record<(typeof METHODS)[number], OperationObject>>> {
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly 'x-additionalOperations'?: Map<OperationObject>
}

export interface OpenApiDocument {
  readonly info: { readonly version: string }
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Map<PathItem>
  readonly components: Map<Map<unknown>> & {
    readonly schemas: Map<{ readonly enum?: readonly unknown[] }>
  }
  readonly 'x-unknownPath': ApiResponse | Reference
  readonly 'x-unknownMethod': ApiResponse | Reference
}

/** One operation, with everything that it refers to. */
export interface Operation {
  readonly id: string
  /** In capitals. */
  readonly method: string
  readonly path: string
  readonly tags: readonly string[]
  readonly isPublic: boolean
  readonly parameters: readonly Parameter[]
  /** By media type; none when it takes no body. */
  readonly requestBodies: Map<MediaType>
  /** By status, or `default`. */
  readonly responses: Map<ApiResponse>
}

/** Reads the description. @throws {Error} When it does not have the form of an OpenAPI document. */
export function readDescription(): OpenApiDocument {
  const url = new URL('../../../docs/openapi.yaml', import.meta.url)
  const document: unknown = parse(readFileSync(url, 'utf8'))
  const validate = createValidator().compile<OpenApiDocument>(OPEN_API_FORM)
  if (validate(document)) return document
  throw new Error(`docs/openapi.yaml: ${describeErrors(validate).join('\n')}`)
}

/** What a JSON pointer in the form of a `$ref` leads to. */
export function resolveReference(document: OpenApiDocument, $ref: string): unknown {
  let node: unknown = document
  for (const token of $ref.replace(/^#\//, '').split('/')) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) {
      throw new Error(`${$ref} leads nowhere`)
    }
    node = Reflect.get(node, key)
  }
  return node
}

/** Every operation, those in the extension too. */
export function listOperations(document: OpenApiDocument): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) => {
    const { parameters: shared = [], 'x-additionalOperations': additional = {} } = item
    const own = METHODS.map((method): [string, OperationObject | undefined] => [
      method,
      item[method],
    ])
    return [...own, ...Object.entries(additional)].flatMap(([method, operation]) =>
      operation === undefined ? [] : describe(path, method.toUpperCase(), operation, shared),
    )
  })

  function describe(
    path: string,
    method: string,
    operation: OperationObject,
    shared: readonly (Parameter | Reference)[],
  ): Operation {
    const { operationId: id, tags, security, parameters = [], requestBody, responses } = operation
    return {
      id,
      method,
      path,
      tags,
      isPublic: security?.length === 0,
      parameters: [...shared, ...parameters].map(follow),
      requestBodies: requestBody === undefined ? {} : follow(requestBody).content,
      responses: Object.fromEntries(
        Object.entries(responses).map(([status, response]) => [status, follow(response)]),
      ),
    }
  }

  function follow<T extends object>(value: T | Reference): T {
    return followReference(document, value)
  }
}

/** What a value is, or refers to. */
export function followReference<T extends object>(
  document: OpenApiDocument,
  value: T | Reference,
): T {
  // The form has proved that a reference leads to a component of the same kind.
  return isReference(value) ? (resolveReference(document, value.$ref) as T) : value
}

/** The names of the fields that a body may have. */
export function fieldsOf(document: OpenApiDocument, { schema = {} }: MediaType): readonly string[] {
  const { properties = {}, $ref } = schema
  if ($ref === undefined) return Object.keys(properties)
  const inherited = followReference<Schema>(document, { $ref })
  return [...Object.keys(inherited.properties ?? {}), ...Object.keys(properties)]
}

/** The error codes that a response may carry; none for a success. */
export function codesOf({ content = {} }: ApiResponse): readonly HttpErrorCode[] {
  return codesIn(content['application/problem+json']?.schema)
}

function codesIn({ properties, oneOf = [] }: Schema = {}): readonly HttpErrorCode[] {
  const { const: one, enum: several = [] } = properties?.code ?? {}
  return [...(one === undefined ? several : [one]), ...oneOf.flatMap(codesIn)]
}

function isReference(value: unknown): value is Reference {
  return typeof value === 'object' && value !== null && '$ref' in value
}
