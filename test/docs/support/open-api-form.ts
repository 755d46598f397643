/**
 * The form of an OpenAPI 3.1 document, as a JSON Schema: the objects of sections 4.8.1 to 4.8.30
 * as far as we use them. Closed: a member that it does not know is a fault, unless it begins with
 * `x-`.
 *
 * Stricter than the standard in what makes a description good: operations have an id, a summary
 * and a tag.
 * @module
 */

type JsonSchema = Readonly<Record<string, unknown>>

const TEXT: JsonSchema = { type: 'string', minLength: 1 }
const FLAG: JsonSchema = { type: 'boolean' }
const ANY_SCHEMA: JsonSchema = { $ref: 'https://json-schema.org/draft/2020-12/schema' }

/** An object of the members that are named; those with a `!` are required. */
function shape(members: Readonly<Record<string, JsonSchema>>, more: JsonSchema = {}): JsonSchema {
  const entries = Object.entries(members)
  return {
    type: 'object',
    properties: Object.fromEntries(
      entries.map(([name, schema]) => [name.replace('!', ''), schema]),
    ),
    required: entries.filter(([name]) => name.endsWith('!')).map(([name]) => name.slice(0, -1)),
    patternProperties: { '^x-': true },
    additionalProperties: false,
    ...more,
  }
}

function mapOf(values: JsonSchema, names: string = '^[A-Za-z0-9._-]+$'): JsonSchema {
  return { type: 'object', propertyNames: { pattern: names }, additionalProperties: values }
}

function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items }
}

/** The object itself, or a reference to a component of that kind. */
function orReference(kind: string, schema: JsonSchema): JsonSchema {
  const $ref = { type: 'string', pattern: `^#/components/${kind}/[^/]+$` }
  return {
    if: { required: ['$ref'] },
    then: shape({ '$ref!': $ref, description: TEXT }),
    else: schema,
  }
}

const MEDIA_RANGE = '^(\\*|[a-z]+)/(\\*|[a-z0-9.+-]+)$'

const EXAMPLE = shape({ summary: TEXT, description: TEXT, 'value!': {} })

const MEDIA_TYPE = shape({
  schema: ANY_SCHEMA,
  example: {},
  examples: mapOf(EXAMPLE),
  'x-events': mapOf(ANY_SCHEMA),
})

const CONTENT = mapOf(MEDIA_TYPE, MEDIA_RANGE)

const HEADER = shape({ description: TEXT, required: FLAG, 'schema!': ANY_SCHEMA, example: {} })

const PARAMETER = shape(
  {
    'name!': TEXT,
    'in!': { enum: ['path', 'query', 'header'] },
    description: TEXT,
    required: FLAG,
    'schema!': ANY_SCHEMA,
    example: {},
  },
  {
    // Those of a path cannot be left out; these three headers are described elsewhere.
    if: { properties: { in: { const: 'path' } } },
    then: { properties: { required: { const: true } }, required: ['required'] },
    else: { properties: { name: { not: { enum: ['Accept', 'Content-Type', 'Authorization'] } } } },
  },
)

const REQUEST_BODY = shape({ description: TEXT, required: FLAG, 'content!': CONTENT })

const RESPONSE = shape({
  'description!': TEXT,
  headers: mapOf(orReference('headers', HEADER)),
  content: CONTENT,
})

const SECURITY = listOf(mapOf(listOf(TEXT)))

const OPERATION = shape({
  'operationId!': { type: 'string', pattern: '^[a-z][A-Za-z]+$' },
  'tags!': { ...listOf(TEXT), minItems: 1 },
  'summary!': TEXT,
  description: TEXT,
  security: SECURITY,
  parameters: listOf(orReference('parameters', PARAMETER)),
  requestBody: orReference('requestBodies', REQUEST_BODY),
  'responses!': mapOf(orReference('responses', RESPONSE), '^([1-5][0-9][0-9]|default)$'),
})

const PATH_ITEM = shape({
  parameters: listOf(orReference('parameters', PARAMETER)),
  ...Object.fromEntries(
    ['get', 'head', 'put', 'post', 'patch', 'delete', 'options'].map((method) => [
      method,
      OPERATION,
    ]),
  ),
  'x-additionalOperations': mapOf(OPERATION, '^(PROPFIND|MKCOL)$'),
})

const SERVER = shape({
  'url!': TEXT,
  description: TEXT,
  variables: mapOf(shape({ 'default!': TEXT, description: TEXT, enum: listOf(TEXT) })),
})

export const OPEN_API_FORM: JsonSchema = shape({
  'openapi!': { type: 'string', pattern: '^3\\.1\\.[0-9]+$' },
  'info!': shape({
    'title!': TEXT,
    'version!': TEXT,
    summary: TEXT,
    description: TEXT,
    license: shape({ 'name!': TEXT, identifier: TEXT }),
  }),
  'servers!': listOf(SERVER),
  'security!': SECURITY,
  'tags!': listOf(shape({ 'name!': TEXT, description: TEXT })),
  'paths!': mapOf(PATH_ITEM, '^/'),
  'components!': shape({
    securitySchemes: mapOf(
      shape({ 'type!': { const: 'http' }, 'scheme!': TEXT, description: TEXT }),
    ),
    parameters: mapOf(PARAMETER),
    requestBodies: mapOf(REQUEST_BODY),
    headers: mapOf(HEADER),
    schemas: mapOf(ANY_SCHEMA),
    responses: mapOf(RESPONSE),
  }),
  'x-unknownPath!': orReference('responses', RESPONSE),
  'x-unknownMethod!': orReference('responses', RESPONSE),
})
