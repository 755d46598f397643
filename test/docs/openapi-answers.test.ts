import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allCases, isProvocable } from './support/all-cases.ts'
import {
  AnswerCheck,
  codeIn,
  documentedAnswers,
  parseFrames,
  parseJson,
} from './support/answer-check.ts'
import {
  fieldsOf,
  followReference,
  listOperations,
  readDescription,
} from './support/api-description.ts'
import { answerOf, isCalm, requestOf } from './support/case.ts'
import { openStation } from './support/station.ts'

const description = readDescription()
const operations = listOperations(description)
const cases = allCases(operations)
const check = new AnswerCheck(description)

// Protocol: Success is 200, with these exceptions
// Protocol, Framing: or 256 fields
// Protocol, Framing: a request target of more than 8,192 characters
describe('an answer of the gateway is as docs/openapi.yaml says', () => {
  for (const operation of operations) {
    const { id, method, path } = operation
    it(`${method} ${path}`, async (t) => {
      const calm = await openStation(t)
      for (const one of cases.filter((each) => each.operation === id)) {
        await t.test(`answers ${answerOf(one)} ${one.when}`, async (t) => {
          const at = isCalm(one) ? calm : await openStation(t, one.options)
          await one.given?.(at)
          const request = requestOf(one, operation)
          const answer = await (one.exchange?.(at, request) ?? at.ask(request))
          assert.equal(answer.status, one.status, answer.body)
          assert.equal(codeIn(answer), method === 'HEAD' ? undefined : one.code)
          assert.deepEqual(check.faultsOf(operation, answer), [])
          if (one.events === undefined) return
          assert.deepEqual(
            parseFrames(answer.body).map(({ event }) => event),
            one.events,
          )
        })
      }
    })
  }

  it('has an operation for each of these requests', () => {
    const unknown = cases.filter((one) => !operations.some(({ id }) => id === one.operation))
    assert.deepEqual(unknown, [])
  })

  it('also where there is no such path', async (t) => {
    const { ask } = await openStation(t)
    const answer = await ask({ method: 'GET', target: '/nowhere' })
    assert.equal(answer.status, 404)
    const response = followReference(description, description['x-unknownPath'])
    assert.deepEqual(check.faultsOf({ method: 'GET', responses: { 404: response } }, answer), [])
  })

  it('also where there is no such method, and lists those that are', async (t) => {
    const { ask } = await openStation(t)
    const response = followReference(description, description['x-unknownMethod'])
    for (const path of Object.keys(description.paths)) {
      const here = operations.filter((operation) => operation.path === path)
      const methods = here.map((operation) => operation.method)
      const method = ['DELETE', 'PATCH', 'POST'].find((name) => !methods.includes(name)) ?? ''
      const answer = await ask({ method, target: path.replace(/\{\w+\}/g, 'Text-00') })
      assert.equal(answer.status, 405, path)
      assert.deepEqual(check.faultsOf({ method, responses: { 405: response } }, answer), [])
      assert.deepEqual(answer.headers['allow']?.split(', ').sort(), methods.sort(), path)
    }
  })
})

describe('of what docs/openapi.yaml says', () => {
  for (const operation of operations) {
    const { id, parameters, requestBodies } = operation
    const own = cases.filter((one) => one.operation === id)
    const fields = own.flatMap(({ request }) => request?.fields ?? [])

    it(`every answer of ${id} is provoked here, if it can be`, () => {
      const provoked = new Set(own.map(answerOf))
      const provocable = documentedAnswers(operation).filter((answer) => isProvocable(answer, id))
      assert.deepEqual([...provoked].sort(), provocable.sort())
    })

    it(`every parameter and field of ${id} is sent here`, () => {
      const isSent = (line: string): boolean => fields.some((field) => field.startsWith(line))
      const headers = parameters.filter((parameter) => parameter.in === 'header')
      assert.deepEqual(
        headers.filter(({ name }) => !isSent(`${name}: `)),
        [],
      )
      const types = Object.keys(requestBodies).filter((type) => type !== '*/*')
      assert.deepEqual(
        types.filter((type) => !isSent(`Content-Type: ${type}`)),
        [],
      )

      const taken = own.filter(({ status }) => status === 200)
      const bodies = taken.map(({ request }) => request?.body ?? '')
      const names = Object.values(requestBodies).flatMap((media) => fieldsOf(description, media))
      assert.deepEqual(
        names.filter((name) => !bodies.some((body) => body.includes(name))),
        [],
      )
    })

    it(`every JSON body that ${id} takes here is allowed`, () => {
      const { schema } = requestBodies['application/json'] ?? {}
      for (const { status, request: { fields: lines = [], body = '' } = {}, when } of own) {
        const isJson = lines.includes('Content-Type: application/json')
        if (schema === undefined || status !== 200 || !isJson) continue
        assert.deepEqual(check.valueFaults(schema, parseJson(body)), [], when)
      }
    })
  }

  it('every event is provoked here', () => {
    const responses = operations.flatMap((operation) => Object.values(operation.responses))
    const media = responses.flatMap(({ content = {} }) => Object.values(content))
    const documented = new Set(media.flatMap((type) => Object.keys(type['x-events'] ?? {})))
    const provoked = new Set(cases.flatMap(({ events = [] }) => events))
    assert.deepEqual([...provoked].sort(), [...documented].sort())
  })
})
