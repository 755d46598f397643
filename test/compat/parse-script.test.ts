import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from '../support/property.ts'
import { ScriptError, type Exchange } from './support/client-script.ts'
import { FUNCTIONS } from './support/make-value.ts'
import { parseScript } from './support/parse-script.ts'
import { fillTemplate, namesIn, parseTemplate } from './support/template.ts'

const ASK = '>>>\nGET / HTTP/1.1\nHost: {{host}}\n\n<<< 200\n'

/** The first request of a scenario. */
function exchangeOf(text: string): Exchange {
  const steps = parseScript('one.txt', text).scenarios[0]?.steps ?? []
  const found = steps.find((step) => step.kind === 'exchange')
  assert.ok(found !== undefined, 'there is a request')
  return found
}

function filled(template: Exchange['head']): string {
  const values = new Map([
    ['host', Buffer.from('box')],
    ['length', Buffer.from('0')],
  ])
  return fillTemplate(template, values).toString()
}

/** A scenario with one request. */
function scenarioWith(request: string, { options = '', fields = '', body = '' } = {}): string {
  return `== one\n>>>${options}\n${request} HTTP/1.1\n${fields}\n${body}<<< 200\n`
}

describe('parseScript()', () => {
  it('reads requests byte for byte', () => {
    const exchange = exchangeOf(
      [
        '== one',
        '>>> crlf',
        'pushes Text one',
        'PUT //Sync.json?a=b HTTP/1.0',
        'HOST:{{host}}',
        'content-length: {{length}}',
        '',
        '{"type":"Text",',
        '',
        ' "text":"one"}',
        '',
        '<<< 200 4xx',
        '',
      ].join('\n'),
    )
    assert.equal(exchange.method, 'PUT')
    const head = 'PUT //Sync.json?a=b HTTP/1.0\r\nHOST:box\r\ncontent-length: 0'
    assert.equal(filled(exchange.head), head)
    assert.equal(filled(exchange.body), '{"type":"Text",\r\n\r\n "text":"one"}\r\n')
    assert.deepEqual(exchange.statuses, ['200', '4xx'])
  })

  it('ends the lines of other bodies with line feeds', () => {
    const fields = 'Content-Length: {{length}}\n'
    const { body } = exchangeOf(scenarioWith('PUT /file/a', { fields, body: 'a\nb\n' }))
    assert.equal(filled(body), 'a\nb')
  })

  it('reads options, and fields that many requests share', () => {
    const exchange = exchangeOf(
      [
        'let agent = head',
        '  Host: {{host}}',
        '  User-Agent: x',
        '== one',
        '>>> opens closes continue chunks=3,10',
        'PUT /file/a HTTP/1.1',
        '{{agent}}',
        'Transfer-Encoding: chunked',
        'Expect: 100-continue',
        '',
        'abcdef',
        '<<< 200',
        '',
      ].join('\n'),
    )
    const { opens, closes, awaitsContinue, chunks } = exchange
    assert.deepEqual(
      { opens, closes, awaitsContinue, chunks },
      {
        opens: true,
        closes: true,
        awaitsContinue: true,
        chunks: [3, 10],
      },
    )
    assert.deepEqual(namesIn(exchange.head), ['agent'])
  })

  it('gives each scenario the values of the file', () => {
    const file = `let a = text 1\n== one\n${ASK}\nsame a a\n== two\nwait 1 h\n${ASK}`
    const { scenarios } = parseScript('one.txt', file)
    assert.deepEqual(
      scenarios.map(({ title, steps }) => [title, steps.map(({ kind }) => kind)]),
      [
        ['one', ['let', 'exchange', 'compare']],
        ['two', ['let', 'wait', 'exchange']],
      ],
    )
  })

  const refused: readonly (readonly [reason: RegExp, text: string])[] = [
    [/1: there is no scenario/, ''],
    [/1: there is no scenario/, '# only a comment\n'],
    [/1: only "let" stands before/, `given Text x\n== one\n${ASK}`],
    [/1: a scenario needs a title/, `== \n${ASK}`],
    [/8: a scenario needs a title/, `== one\n${ASK}\n== one\n${ASK}`],
    [/1: this scenario asks nothing/, '== one\n'],
    [/2: this scenario asks nothing/, '== one\ngiven Text x\n'],
    [/2: this line says nothing/, `== one\nplease\n${ASK}`],
    [/8: this line says nothing/, `== one\n${ASK}\n  indented\n`],
    [/2: a fixture has bare line feeds/, '== one\n>>>\r\n'],
    [/5: the file ends too early/, '== one\n>>>\nGET / HTTP/1.1\n\nbody'],
    [/3: the file ends too early/, '== one\n>>>\nGET / HTTP/1.1'],
    [/3: this is no request line/, '== one\n>>>\nget / HTTP/1.1\n\n<<< 200\n'],
    [/3: this is no request line/, '== one\n>>>\nGET / HTTP/2\n\n<<< 200\n'],
    [/4: this is no header field/, '== one\n>>>\nGET / HTTP/1.1\nHost\n\n<<< 200\n'],
    [/4: this is no header field/, '== one\n>>>\nGET / HTTP/1.1\n<<< 200\n'],
    [/2: ">>>" does not know twice/, scenarioWith('GET /', { options: ' twice' })],
    [/: a body wants "Content-Length/, scenarioWith('PUT /file/a', { body: 'body\n' })],
    [/: "chunks=" and/, scenarioWith('PUT /file/a', { options: ' chunks=1' })],
    [/: "chunks=" and/, scenarioWith('PUT /file/a', { fields: 'Transfer-Encoding: chunked\n' })],
    [/: who awaits "continue"/, scenarioWith('PUT /file/a', { options: ' continue' })],
    [/: a push says what it "pushes"/, scenarioWith('PUT /Sync.json')],
    [/: a push says what it "pushes"/, scenarioWith('PUT //SyncClipboard.json/')],
    [/: a push says what it "pushes"/, scenarioWith('POST /api/history')],
    [/: a push says what it "pushes"/, scenarioWith('pushes Text x\nPOST /api/history/query')],
    [/: a push says what it "pushes"/, scenarioWith('pushes nothing\nPUT /file/a')],
    [/3: an item is/, scenarioWith('pushes Image a.png\nPUT /Sync.json')],
    [/2: an item is/, `== one\ngiven Text\n${ASK}`],
    [/2: an item is/, `== one\ngiven Picture a.png {{host}}\n${ASK}`],
    [/5: "<<<" wants statuses/, '== one\n>>>\nGET / HTTP/1.1\n\n<<<\n'],
    [/5: "<<<" wants statuses/, '== one\n>>>\nGET / HTTP/1.1\n\n<<< fine\n'],
    [/5: "<<<" wants statuses/, '== one\n>>>\nGET / HTTP/1.1\n\n<<< 100\n'],
    [/7: this is nothing that an answer can be/, `== one\n${ASK}whatever\n`],
    [/8: this is said twice/, `== one\n${ASK}ETag: *\netag: "1"\n`],
    [/8: this is said twice/, `== one\n${ASK}json {"a":1}\njson {"b":1}\n`],
    [/7: "keep" wants/, `== one\n${ASK}keep it = json\n`],
    [/7: "keep" wants/, `== one\n${ASK}keep it = cookie x\n`],
    [/7: nobody uses {{it}}/, `== one\n${ASK}keep it = body\n`],
    [/2: nobody uses {{a}}/, `== one\nlet a = text 1\n${ASK}`],
    [/1: no scenario uses {{a}}/, `let a = text 1\n== one\n${ASK}`],
    [/3: {{a}} has a meaning already/, `== one\nlet a = text 1\nlet a = text 2\n${ASK}`],
    [/2: {{host}} has a meaning already/, `== one\nlet host = text 1\n${ASK}`],
    [/8: {{a}} has a meaning already/, `let a = text 1\n== one\n${ASK}keep a = body\n\nsame a a\n`],
    [/2: {{b}} means nothing here/, `== one\nlet a = text {{b}}\n${ASK}\nsame a a\n`],
    [/7: {{b}} means nothing here/, `== one\n${ASK}json {{b}}\n`],
    [/2: {{b}} means nothing here/, `== one\nsame b b\nlet b = text 1\n${ASK}`],
    [/2: "let" wants/, `== one\nlet a = sha1 x\n${ASK}`],
    [/2: "let" wants/, `== one\nlet a text x\n${ASK}`],
    [/2: "text" wants an argument/, `== one\nlet a = text\n${ASK}`],
    [/2: "head" wants an argument/, `== one\nlet a = head\n${ASK}`],
    [/2: "wait" wants/, `== one\nwait long\n${ASK}`],
    [/2: "wait" wants/, `== one\nwait 1 year\n${ASK}`],
    [/2: "alike" wants two names/, `== one\nalike a\n${ASK}`],
    [/2: "{{" opens no {{name}}/, `== one\ncurrent Text {{a b}}\n${ASK}`],
  ]
  for (const [reason, text] of refused) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(
        () => parseScript('one.txt', text),
        (error) => {
          assert.ok(error instanceof ScriptError, String(error))
          assert.match(error.message, /^one\.txt:\d+: /)
          assert.match(error.message, reason)
          return true
        },
      )
    })
  }

  it('throws nothing but ScriptError, whatever it is given', () => {
    const words = [
      '== one',
      '>>>',
      '<<< 200',
      'GET / HTTP/1.1',
      '',
      'let a = text {{',
      'keep a = body',
      'same a a',
    ]
    const line = fc.oneof(fc.constantFrom(...words), fc.string())
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        try {
          parseScript('any.txt', lines.join('\n'))
        } catch (error) {
          assert.ok(error instanceof ScriptError, String(error))
        }
      }),
    )
  })
})

describe('a template', () => {
  it('is the text itself, with values where names stand', () => {
    const literal = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('{', '('))
    fc.assert(
      fc.property(fc.array(fc.tuple(literal, fc.uint8Array())), literal, (pairs, end) => {
        const text = pairs.map(([before], index) => `${before}{{n${index}}}`).join('') + end
        const values = new Map(pairs.map(([, value], index) => [`n${index}`, value]))
        const expected = pairs.flatMap(([before, value]) => [Buffer.from(before), value])
        const actual = fillTemplate(parseTemplate(text), values)
        assert.deepEqual(actual, Buffer.concat([...expected, Buffer.from(end)]))
      }),
    )
  })

  it('leaves single braces alone, and refuses names that mean nothing', () => {
    const json = '{"a":{"b":1}}'
    assert.equal(fillTemplate(parseTemplate(json), new Map()).toString(), json)
    for (const text of ['{{', '{{a', '{{}}', '{{a b}}', '{{ a }}', '{{1}}']) {
      assert.throws(() => parseTemplate(text), SyntaxError, text)
    }
    assert.throws(() => fillTemplate(parseTemplate('{{a}}'), new Map()), /{{a}} stands for nothing/)
  })
})

describe('the functions of "let"', () => {
  const make = (name: string, argument: string): string =>
    Buffer.from(FUNCTIONS.get(name)?.(Buffer.from(argument)) ?? '').toString()

  const cases: readonly (readonly [name: string, argument: string, value: string])[] = [
    ['text', ' a ', ' a '],
    ['hex', '68 65 6c6c6f', 'hello'],
    ['base64', 'aGVs bG8=', 'hello'],
    ['repeat', '3 ab ', 'ab ab ab '],
    ['sha256', 'hello', '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'],
    ['SHA256', 'hello', '2CF24DBA5FB0A30E26E83B2AC5B9E29E1B161E5C1FA7425E73043362938B9824'],
    ['md5', 'hello', '5d41402abc4b2a76b9719d911017c592'],
    ['percent', 'a b/ü(1).png', 'a%20b%2F%C3%BC(1).png'],
    ['json', 'a"\n', 'a\\"\\n'],
    ['rfc2047', 'ü', '=?utf-8?B?w7w=?='],
    ['bytes', 'ü😀', '6'],
    ['units', 'ü😀', '3'],
  ]
  for (const [name, argument, value] of cases) {
    it(`${name} ${argument}`, () => {
      assert.equal(make(name, argument), value)
    })
  }

  it('are all here', () => {
    const tested = [...cases.map(([name]) => name), 'sample'].sort()
    assert.deepEqual([...FUNCTIONS.keys()].sort(), tested)
  })

  it('refuse what they cannot read', () => {
    assert.throws(() => make('hex', '6'), /this is not hex/)
    assert.throws(() => make('hex', '6g'), /this is not hex/)
    assert.throws(() => make('base64', 'a'), /this is not base64/)
    assert.throws(() => make('repeat', 'x'), /"repeat" wants/)
    assert.throws(() => make('sample', 'no-such-file'), { code: 'ENOENT' })
  })
})
