import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runInNewContext } from 'node:vm'
import { HttpError, type HttpErrorCode } from '../../src/http/http-error.ts'
import { parsePartHeader, type PartHeader } from '../../src/http/part-header.ts'
import fc, { forAll } from '../support/property.ts'

/** @param lines Characters beyond Latin-1 are sent as UTF-8. */
function parse(...lines: readonly string[]): PartHeader {
  return parsePartHeader(Buffer.from([...lines, '', ''].join('\r\n')))
}

function parseDisposition(rest: string): PartHeader {
  return parse(`Content-Disposition: form-data; ${rest}`)
}

function fileName(rest: string): string | undefined {
  return parseDisposition(`name="data"; ${rest}`).fileName
}

function refuses(code: HttpErrorCode, ...lines: readonly string[]): void {
  assert.throws(() => parse(...lines), { name: 'HttpError', code }, JSON.stringify(lines))
}

describe('the header of a part', () => {
  it('has a name, a file name and a type', () => {
    const header = parse(
      'Content-Disposition: form-data; name="data"; filename="a.png"',
      'Content-Type: image/png',
    )
    assert.deepEqual(header, { name: 'data', fileName: 'a.png', contentType: 'image/png' })
  })

  it('may have none of them', () => {
    const nothing = { name: '', fileName: undefined, contentType: undefined }
    assert.deepEqual(parsePartHeader(Buffer.from('\r\n')), nothing)
    assert.deepEqual(parse('Content-Disposition: form-data', 'Content-Type:'), nothing)
    assert.deepEqual(parse('X-Other: name="a"'), nothing)
  })

  it('tells an empty file name, of a file input without a file, from none', () => {
    assert.equal(fileName('filename=""'), '')
    assert.equal(fileName('x="y"'), undefined)
  })

  it('may be in any letter case, order and spacing', () => {
    for (const line of [
      'content-disposition: form-data; name="data"; filename="a.png"',
      'CONTENT-DISPOSITION:form-data;NAME="data";FileName="a.png"',
      'Content-Disposition:  form-data ;\tfilename="a.png" ; name = "data" ;',
      'Content-Disposition: attachment; filename=a.png; name=data',
    ]) {
      const { name, fileName } = parse('X: y', line, 'Content-Length: 5')
      assert.deepEqual([name, fileName], ['data', 'a.png'], line)
    }
  })

  it('may have unquoted values, also ones that should have been quoted', () => {
    assert.equal(fileName('filename=a.png'), 'a.png')
    assert.equal(fileName('filename=my holiday (1).png ; x=y'), 'my holiday (1).png')
    assert.equal(fileName('filename=图.png'), '图.png')
  })

  it('may have quotes in quotes: escaped, encoded as by browsers, or as they are', () => {
    assert.equal(fileName('filename="a\\"b;c.png"'), 'a"b;c.png')
    assert.equal(fileName('filename="a%22b%0D%0a.png"'), 'a"b\r\n.png')
    assert.equal(fileName('filename="a"b.png"'), 'a"b.png')
  })

  it('keeps percent signs that mean themselves', () => {
    assert.equal(fileName('filename="100%.png"'), '100%.png')
    assert.equal(fileName('filename="%41%20%2F.png"'), '%41%20%2F.png')
    assert.equal(fileName('filename=%22.png'), '%22.png')
  })

  it('keeps the backslashes of a path, as old browsers send it', () => {
    assert.equal(fileName('filename="C:\\new\\photo.png"'), 'C:\\new\\photo.png')
    assert.equal(fileName('filename="a\\\\b.png"'), 'a\\b.png')
  })

  it('may have names in raw UTF-8, else they are Latin-1', () => {
    assert.equal(fileName('filename="Übersicht 图 😀.png"'), 'Übersicht 图 😀.png')
    assert.equal(fileName('filename="\ufeffa.png"'), '\ufeffa.png')
    const line = 'Content-Disposition: form-data; name="data"; filename="\xdcbersicht.png"\r\n\r\n'
    assert.equal(parsePartHeader(Buffer.from(line, 'latin1')).fileName, 'Übersicht.png')
  })

  it('may have an extended file name, which wins wherever it stands', () => {
    assert.equal(fileName(`filename*=UTF-8''%E2%82%AC%20a.png`), '€ a.png')
    assert.equal(fileName(`filename="x.png"; filename*=utf-8'en'%e2%82%ac.png`), '€.png')
    assert.equal(fileName(`filename*=iso-8859-1''%A3.png; filename="x.png"`), '£.png')
    assert.equal(fileName(`filename*="UTF-8''%22.png"`), '".png')
    assert.equal(fileName(`filename*=UTF-8''unencoded name 图.png`), 'unencoded name 图.png')
  })

  it('falls back to the plain file name where the extended one makes no sense', () => {
    const senseless = ['a.png', "UTF-8''%zz", "UTF-8''%E2%82", "klingon''a", "''a", "UTF-8''%"]
    for (const extended of senseless) {
      assert.equal(fileName(`filename*=${extended}; filename="x.png"`), 'x.png', extended)
    }
  })

  it('is refused when no file name can be made out, rather than taken for that of a field', () => {
    const start = 'Content-Disposition: form-data; name="data"; '
    refuses('MULTIPART_MALFORMED', `${start}filename*=UTF-8''%zz`)
    refuses('MULTIPART_MALFORMED', `${start}filename*=a.png`)
  })

  it('may have encoded words', () => {
    assert.equal(fileName('filename="=?utf-8?B?5Zu+LnBuZw==?="'), '图.png')
    assert.equal(fileName('filename="=?UTF-8?Q?=E5=9B=BE_1.png?="'), '图 1.png')
    assert.equal(fileName('filename==?iso-8859-1?q?=A3.png?='), '£.png')
    assert.equal(fileName('filename="=?utf-8*zh?b?5Zu+?="'), '图')
    assert.equal(parseDisposition('name="=?utf-8?B?ZGF0YQ==?="').name, 'data')
  })

  it('may have several encoded words, also ones that cut a character', () => {
    assert.equal(fileName('filename="=?utf-8?B?5Zs=?= =?utf-8?Q?=BE.png?="'), '图.png')
  })

  it('keeps what only looks like an encoded word', () => {
    for (const name of [
      '=?utf-8?B?5Zu+',
      '=?utf-8?B?5Z?=',
      '=?utf-8?X?a?=',
      '=?klingon?Q?a?=',
      '=?utf-8?Q?=zz?=',
      '=?utf-8?B?*?=',
      'a =?utf-8?Q?b?=',
      '=?utf-8?Q?a?= b',
      '=?utf-8?Q?a?= =?latin1?Q?b?=',
    ]) {
      assert.equal(fileName(`filename="${name}"`), name)
    }
  })

  it('takes the extended file name over encoded words beside it', () => {
    const both = `filename="=?utf-8?B?eC5wbmc=?="; filename*=utf-8''%E5%9B%BE.png`
    assert.equal(fileName(both), '图.png')
  })

  it('may be folded as in mail, which cannot begin another field', () => {
    const header = parse(
      'Content-Disposition: form-data;',
      ' name="data";',
      '\tfilename="a',
      ' Content-Type: text/x"',
    )
    assert.deepEqual(header, {
      name: 'data',
      fileName: 'a Content-Type: text/x',
      contentType: undefined,
    })
  })

  it('is refused with anything in it that could begin a line or end a text elsewhere', () => {
    for (const character of ['\r', '\n', '\0', '\v', '\f', '\x1b', '\x7f', '\n\n', '\r\r']) {
      const field = `Content-Disposition: form-data; name="a${character}X: b"`
      refuses('MULTIPART_MALFORMED', field)
      refuses('MULTIPART_MALFORMED', field, 'X-Next: y')
      refuses('MULTIPART_MALFORMED', `X-Other: a${character}b`)
    }
    assert.throws(() => parsePartHeader(Buffer.from('X: y\n\r\n')), { code: 'MULTIPART_MALFORMED' })
  })

  it('is refused with a line that is no field', () => {
    for (const line of ['name', ': value', 'X : y', ' X: y', '\tX: y', 'Ü: y', '--boundary']) {
      refuses('MULTIPART_MALFORMED', line)
    }
  })

  it('is refused when it says two things at once', () => {
    const field = 'Content-Disposition: form-data; name="a"'
    refuses('MULTIPART_MALFORMED', field, field)
    refuses('MULTIPART_MALFORMED', 'Content-Type: a/b', 'X: y', 'content-type: a/b')
    refuses('MULTIPART_MALFORMED', `${field}; name="b"`)
    refuses('MULTIPART_MALFORMED', `${field}; filename=a; FILENAME=b`)
  })

  it('is refused with a disposition that cannot be read', () => {
    for (const rest of ['name="a', 'name="a" b', 'name', 'name="a\\"', '"a"', '=a']) {
      refuses('MULTIPART_MALFORMED', `Content-Disposition: form-data; ${rest}`)
    }
  })

  it('is refused with UTF-8 that is forged to look harmless', () => {
    for (const forged of [
      '\xc0\xaf',
      '\xc1\x9c',
      '\xe0\x80\xaf',
      '\xf0\x80\x80\xaf',
      '\xed\xa0\xbd',
      '\xed\xbf\xbf',
    ]) {
      const block = `Content-Disposition: form-data; filename="..${forged}x"\r\n\r\n`
      const parsing = () => parsePartHeader(Buffer.from(block, 'latin1'))
      assert.throws(parsing, { code: 'MULTIPART_MALFORMED' }, JSON.stringify(forged))
    }
  })

  it('is refused when the part is a form itself', () => {
    refuses('MULTIPART_NESTED', 'Content-Type: multipart/mixed; boundary=inner')
    refuses('MULTIPART_NESTED', 'content-type:Multipart/Form-Data')
  })

  it('is refused when the body would have to be decoded', () => {
    const field = 'Content-Transfer-Encoding:'
    for (const encoding of ['7bit', '8BIT', 'binary']) parse(`${field} ${encoding}`)
    for (const encoding of ['base64', 'quoted-printable', 'x-other', '']) {
      refuses('UNSUPPORTED_ENCODING', `${field} ${encoding}`)
    }
  })

  it('is read in linear time', () => {
    // With a step for each pair of bytes this would take half an hour.
    const long = 1024 * 1024
    for (const line of [
      `X: a${' '.repeat(long)}b`,
      `Content-Disposition: form-data; name=a${' '.repeat(long)}b; x=y`,
      `Content-Disposition: form-data; name="${'"'.repeat(long)} "`,
      `Content-Disposition: form-data; name="${'\\"'.repeat(long / 2)}`,
      `Content-Disposition: form-data; name="${'" '.repeat(long / 2)}`,
      `Content-Disposition: form-data; filename="=?utf-8?Q?${'=?'.repeat(long / 2)}"`,
      `Content-Disposition: form-data${'; '.repeat(long / 2)}`,
      `Content-Disposition: form-data; filename*=UTF-8''${'%41'.repeat(long / 3)}`,
    ]) {
      const read = () => {
        try {
          parse(line)
        } catch (error) {
          assert.ok(error instanceof HttpError, `threw ${String(error)}`)
        }
      }
      // Ends even what never comes up for air.
      runInNewContext('read()', { read }, { timeout: 60_000 })
    }
  })

  it('gives names or is refused, whatever is in it', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'Content-Disposition:',
        'form-data;',
        'name=',
        'filename=',
        'filename*=',
        "UTF-8''",
        '%22',
        '=?utf-8?B?',
        '?=',
        'Content-Type:',
        '\r\n',
        '\r',
        '\n',
        ' ',
        '"',
        ';',
        '\\',
        '%',
        '=',
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
    )
    forAll(fc.array(piece, { maxLength: 30 }), (pieces) => {
      try {
        const { name } = parsePartHeader(Buffer.from(`${pieces.join('')}\r\n\r\n`))
        assert.equal(typeof name, 'string')
      } catch (error) {
        assert.ok(error instanceof HttpError, `threw ${String(error)}`)
        assert.equal(error.status, error.code === 'UNSUPPORTED_ENCODING' ? 415 : 400)
      }
    })
  })
})

describe('the file name of a part', () => {
  // Not those that a spelling has for something else.
  const character = fc.oneof(
    fc.constantFrom(...`a "\\%;='?*/.`),
    fc.string({ unit: 'grapheme', maxLength: 1 }),
  )
  const names = fc
    .string({ unit: character })
    .filter((name) => !/%(22|0[ad])|[\0-\x1f\x7f]|^=\?/i.test(name))

  const encodeWith = (sign: string, text: string): string =>
    Buffer.from(text).toString('hex').replace(/../g, `${sign}$&`)

  it('is the same in whatever way a client has spelled it', () =>
    forAll(names, (name) => {
      assert.equal(fileName(`filename="${name.replace(/["\\]/g, '\\$&')}"`), name)
      assert.equal(fileName(`filename*=UTF-8''${encodeWith('%', name)}`), name)
      const base64 = Buffer.from(name).toString('base64')
      assert.equal(fileName(`filename="=?utf-8?B?${base64}?="`), name)
      assert.equal(fileName(`filename="=?utf-8?Q?${encodeWith('=', name)}?="`), name)
      if (name.includes('\\')) return
      assert.equal(fileName(`filename="${name.replaceAll('"', '%22')}"`), name)
      if (/^[^ ";][^;]*[^ ;]$/.test(name)) assert.equal(fileName(`filename=${name}`), name)
    }))
})
