import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseArguments, type OptionSpec } from '../../src/cli/arguments.ts'
import fc, { forAll } from '../support/property.ts'

const SPECS: Readonly<Record<string, OptionSpec>> = {
  json: { placeholder: undefined, meaning: '' },
  label: { placeholder: 'LABEL', meaning: '' },
  listen: { placeholder: 'HOST:PORT', meaning: '', isList: true },
  help: { placeholder: undefined, meaning: '' },
}

const parse = (...args: readonly string[]) => parseArguments(args, SPECS)

describe('parseArguments()', () => {
  it('takes options and operands in any order', () => {
    const args = parse('a', '--label', 'x y', '--json', 'b', '--listen=1', '--listen', '2')
    assert.deepEqual(args.operands, ['a', 'b'])
    assert.equal(args.text('label'), 'x y')
    assert.equal(args.flag('json'), true)
    assert.deepEqual(args.values['listen'], ['1', '2'])
    assert.deepEqual(args.problems, [])
  })

  it('takes everything after -- as operands, and - as a value', () => {
    assert.deepEqual(parse('--', '--json', '-x').operands, ['--json', '-x'])
    assert.equal(parse('--label', '-').text('label'), '-')
    assert.equal(parse('--label=--json').text('label'), '--json')
  })

  it('switches flags off with --no', () => {
    assert.equal(parse('--no-json').values['json'], false)
    assert.equal(parse('--json', '--no-json').flag('json'), false)
    assert.equal(parse('--no-label').problems.length, 1)
  })

  it('knows -h', () => {
    assert.equal(parse('-h').flag('help'), true)
  })

  it('names every problem', () => {
    const { problems } = parse(
      ...'--what --json=yes --label --listen -xyz --label=a --label=b'.split(' '),
    )
    assert.deepEqual(problems, [
      'Cannot use --what: there is no such option; see --help',
      'Cannot use --json: it takes no value',
      'Cannot use --label: it needs a value, LABEL',
      'Cannot use -x: there is no such option; see --help',
      'Cannot use --label: it was given twice',
    ])
    assert.equal(parse('--label').problems.length, 1)
  })

  it('never repeats a value or an operand, and never throws', () => {
    const secret = 'hunter2hunter2'
    const pieces = '--label --json --no-json --what - -- -x --__proto__ --constructor'
    const piece = fc.constantFrom(...pieces.split(' '))
    const argument = fc.oneof(
      piece,
      fc.constant(secret),
      piece.map((name) => `${name}=${secret}`),
      fc.string(),
    )
    forAll(fc.array(argument), (args) => {
      const { problems } = parse(...args)
      assert.ok(!problems.join().includes(secret))
    })
  })
})
