import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { route, type Route } from '../../src/http/call.ts'
import { empty } from '../../src/http/reply.ts'
import { Router } from '../../src/http/router.ts'

function row(method: string, pattern: string): Route {
  return route(method, pattern, () => empty(200))
}

function find(router: Router, path: string): string | undefined {
  const match = router.match(path)
  return match && `/${match.resource.segments.join('/')} ${JSON.stringify(match.params)}`
}

const router = new Router([
  row('GET', '/'),
  row('GET', '/file/{dataName}'),
  row('PUT', '/file/{dataName}'),
  row('GET', '/file'),
  row('PATCH', '/history/{type}/{hash}'),
  row('GET', '/history/{id}/data'),
  row('GET', '/history/{id}'),
  row('POST', '/history/query'),
])

describe('an endpoint table', () => {
  it('finds paths with and without parameters', () => {
    assert.equal(find(router, '/'), '/ {}')
    assert.equal(find(router, '/file'), '/file {}')
    assert.equal(find(router, '/file/a.png'), '/file/{dataName} {"dataName":"a.png"}')
    const both = '/history/{type}/{hash} {"type":"Text","hash":"ab"}'
    assert.equal(find(router, '/history/Text/ab'), both)
  })

  it('finds nothing where nothing is', () => {
    for (const path of ['/nope', '/file/a/b', '/File', '/history', '/%', '/file/%ff']) {
      assert.equal(find(router, path), undefined, path)
    }
  })

  it('gives a path that fits a literal to nothing else', () => {
    assert.equal(find(router, '/history/query'), '/history/query {}')
    assert.equal(find(router, '/history/Text-ab/data'), '/history/{id}/data {"id":"Text-ab"}')
  })

  // Protocol: The path is split at its slashes first
  it('decodes parameters after it has split the path', () => {
    assert.equal(find(router, '/file/a%2Fb%20c'), '/file/{dataName} {"dataName":"a/b c"}')
    assert.equal(find(router, '/file%2Fa'), undefined)
    assert.equal(find(router, '/%66ile'), '/file {}')
  })

  it('has a name like __proto__ for a parameter value, and nothing happens', () => {
    assert.equal(find(router, '/file/__proto__'), '/file/{dataName} {"dataName":"__proto__"}')
  })

  it('finds literal paths of a request target in one step', () => {
    assert.ok(router.matchLiteral('/file'))
    for (const target of ['/file?x', '/file/', '//file', '/file/a']) {
      assert.equal(router.matchLiteral(target), undefined, target)
    }
  })

  it('cannot be made with two rows for the same thing', () => {
    assert.throws(() => new Router([row('GET', '/a'), row('GET', '/a')]), /GET \/a/)
    assert.throws(() => new Router([row('GET', '/a')], [row('PUT', '/a')]), /\/a is public/)
  })
})
