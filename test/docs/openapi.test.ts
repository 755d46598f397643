import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { DeviceStreams } from '../../src/gateway/device-streams.ts'
import { phonePageRoutes, trustRoutes } from '../../src/gateway/phone-page.ts'
import { phoneStateRoutes } from '../../src/gateway/phone-state.ts'
import { deviceRoutes, publicRoutes } from '../../src/gateway/routes.ts'
import { Tickets } from '../../src/gateway/tickets.ts'
import { serveGateway } from '../support/gateway.ts'
import { AnswerCheck } from './support/answer-check.ts'
import {
  codesOf,
  followReference,
  listOperations,
  readDescription,
  resolveReference,
} from './support/api-description.ts'

const description = readDescription()
const operations = listOperations(description)

function readText(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
}

interface Member {
  readonly value: unknown
  readonly owner: object
}

/** Every member of this name, at any depth. */
function* findMembers(node: unknown, name: string): Generator<Member> {
  if (typeof node !== 'object' || node === null) return
  for (const [key, value] of Object.entries(node)) {
    if (key === name) yield { value, owner: node }
    yield* findMembers(value, name)
  }
}

it('docs/openapi.yaml refers to nothing that is not there, and has nothing that nobody refers to', () => {
  const references = [...findMembers(description, '$ref')].map(({ value }) => String(value))
  for (const reference of references) resolveReference(description, reference)
  const { securitySchemes, ...components } = description.components
  assert.deepEqual(Object.keys(securitySchemes ?? {}), ['basic'])
  const all = Object.entries(components).flatMap(([kind, named]) =>
    Object.keys(named).map((name) => `#/components/${kind}/${name}`),
  )
  assert.deepEqual(
    all.filter((name) => !references.includes(name)),
    [],
  )
})

it('docs/openapi.yaml names each operation once, and files it under a tag that it describes', () => {
  const ids = operations.map(({ id }) => id)
  assert.deepEqual(ids, [...new Set(ids)])
  const tags = new Set(operations.flatMap((operation) => operation.tags))
  assert.deepEqual(
    [...tags],
    description.tags.map(({ name }) => name),
  )
})

it('docs/openapi.yaml describes the parameters of each path, and no others', () => {
  for (const { id, path, parameters } of operations) {
    const described = parameters.filter((parameter) => parameter.in === 'path')
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    assert.deepEqual(
      described.map(({ name }) => name),
      inPath,
      id,
    )
  }
})

it('docs/openapi.yaml has schemas that are sound, and examples that fit them', () => {
  const check = new AnswerCheck(description)
  const schemas = [
    ...Object.values(description.components.schemas),
    ...[...findMembers(description, 'schema')].map(({ value }) => Object(value)),
  ]
  for (const schema of schemas) check.compile(schema)

  const examples = [...findMembers(description, 'example')]
  const several = [...findMembers(description, 'examples')].flatMap(({ value, owner }) =>
    [...findMembers(value, 'value')].map((example) => ({ ...example, owner })),
  )
  for (const { value, owner } of [...examples, ...several]) {
    // Beside a schema, or in it.
    const schema = 'schema' in owner ? Object(owner.schema) : owner
    assert.deepEqual(check.valueFaults(schema, value), [])
  }
  assert.ok(examples.length > 3 && several.length > 1, 'there are some')
})

it('docs/openapi.yaml has the version of the package', () => {
  const manifest: unknown = JSON.parse(readText('package.json'))
  const { version } = { version: undefined, ...Object(manifest) }
  assert.equal(description.info.version, version)
})

// Protocol: `code` is stable
it('docs/openapi.yaml lists the codes that the gateway answers, and says where each occurs', () => {
  const source = readText('src/http/http-error.ts')
  const all = [...source.matchAll(/^ {2}([A-Za-z_]+): \[\d+, /gm)].map(([, code = '']) => code)
  const { enum: listed = [] } = description.components.schemas['ProblemCode'] ?? {}
  assert.deepEqual([...listed].sort(), [...all].sort())

  const responses = operations.flatMap((operation) => Object.values(operation.responses))
  const elsewhere = followReference(description, description['x-unknownMethod'])
  const used = new Set([...responses, elsewhere].flatMap(codesOf))
  assert.deepEqual([...used].sort(), [...all].sort())
})

it('docs/openapi.yaml has the endpoints of the code, and the code those of the file', async (t) => {
  const ports = await serveGateway(t)
  const options = { version: '' }
  const page = phonePageRoutes().filter(({ pattern }) => pattern === '/phone')
  const [ticket, ...byTicket] = new Tickets(ports, {
    at: '/phone/tickets',
    find: (id) => ports.devices.find(id),
  }).routes
  const own = [...[ticket ?? []].flat(), ...phoneStateRoutes(ports)]
  const rest = [...deviceRoutes(ports, new DeviceStreams(ports), options), ...own]
  const open = [...publicRoutes(), ...page, ...trustRoutes(), ...byTicket].map((row) => {
    return { ...row, who: 'anybody' }
  })
  const built = [...open, ...rest.map((row) => ({ ...row, who: 'devices' }))]
    .flatMap((row) => (row.method === 'GET' ? [row, { ...row, method: 'HEAD' }] : [row]))
    .map(({ who, method, pattern }) => `${who}: ${method} ${pattern}`)
  const described = operations.map(
    ({ isPublic, method, path }) => `${isPublic ? 'anybody' : 'devices'}: ${method} ${path}`,
  )
  assert.deepEqual(described.sort(), built.sort())
})
