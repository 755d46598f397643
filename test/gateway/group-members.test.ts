import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { serveGateway } from '../support/gateway.ts'
import { zipOf, type ZipEntry } from '../support/make-zip.ts'
import { readObject } from '../support/phone.ts'

const PNG = Buffer.from('\x89PNG\r\n\x1a\n and so on', 'latin1')

/** A gateway with a Group, and the answer to who asks for a ticket. */
async function serve(t: TestContext, archive: Uint8Array, type: 'Group' | 'File' = 'Group') {
  const gateway = await serveGateway(t)
  await gateway.phone.pushFile(type, 'several.zip', archive)
  const response = await gateway.phone.fetch('/phone/tickets', { method: 'POST' })
  const { path, members } = await readObject(response)
  const get = (number: string, headers = {}) =>
    fetch(`${gateway.url}${path}?member=${number}`, { headers })
  return { ...gateway, path, members, get }
}

function file(name: string, content: string | Uint8Array = name): ZipEntry {
  return { name, content: Buffer.from(content) }
}

describe('the files of a Group', () => {
  // Protocol: The files of a Group are listed where all of them stand in the archive as they are
  it('are listed with a ticket, and it leads to each of them', async (t) => {
    const entries = [{ name: 'trip/', content: Buffer.alloc(0) }, file('trip/a ä.txt', 'first')]
    const archive = zipOf(...entries, file('b.png', PNG), file('empty', ''))
    const { members, get } = await serve(t, archive)
    assert.deepEqual(members, [
      { name: 'trip/a ä.txt', size: 5 },
      { name: 'b.png', size: PNG.length },
      { name: 'empty', size: 0 },
    ])
    const first = await get('1')
    assert.equal(await first.text(), 'first')
    assert.equal(first.headers.get('content-length'), '5')
    assert.match(
      String(first.headers.get('content-disposition')),
      /^attachment; .*=UTF-8''a%20%C3%A4\.txt$/,
    )
    assert.equal(first.headers.get('content-security-policy'), "sandbox; default-src 'none'")
    assert.equal(first.headers.get('x-syncclipboard-transfer-data-hash'), null)
    const picture = await get('2')
    assert.equal(picture.headers.get('content-type'), 'image/png')
    assert.deepEqual(Buffer.from(await picture.arrayBuffer()), PNG)
    assert.equal(await (await get('3')).text(), '')
    const tag = String(first.headers.get('etag'))
    assert.notEqual(tag, picture.headers.get('etag'))
    const part = await get('1', { Range: 'bytes=2-', 'If-Range': tag })
    assert.deepEqual([part.status, await part.text()], [206, 'rst'])
    assert.equal(part.headers.get('content-range'), 'bytes 2-4/5')
  })

  it('are counted from 1, and what is no number of one is 404', async (t) => {
    const { get, phone, path } = await serve(t, zipOf(file('a'), file('b')))
    assert.equal(await (await get('2')).text(), 'b')
    for (const wrong of ['0', '3', '01', '-1', '1.5', 'a', '', '../b', '99999999999']) {
      assert.equal((await get(wrong)).status, 404, wrong)
    }
    // It ends with the Group, as the ticket does.
    await phone.pushFile('File', 'other', Buffer.from('x'))
    assert.equal((await get('1')).status, 404)
    assert.equal((await phone.fetch(`${path}?member=1`)).status, 404)
  })

  // Protocol: The name of a file in it is no path
  it('have names that are no paths, whatever the archive says', async (t) => {
    const names = ['../../etc/passwd', 'C:\\x\\y', '/absolute', 'a/..', 'line\nbreak\u2028']
    const { members, get } = await serve(t, zipOf(...names.map((name) => file(name, 'x'))))
    assert.ok(Array.isArray(members))
    assert.deepEqual(
      members.map(({ name }) => name),
      [
        'clipboard.bin/clipboard.bin/etc/passwd',
        'C:_x_y',
        'clipboard.bin/absolute',
        'a/clipboard.bin',
        'line_break_',
      ],
    )
    const given = await Promise.all(names.map((_, index) => get(String(index + 1))))
    const dispositions = given.map(({ headers }) => headers.get('content-disposition'))
    assert.deepEqual(
      dispositions.map((value) => /filename="([^"]*)"$/.exec(value ?? '')?.[1]),
      ['passwd', 'C:_x_y', 'absolute', 'clipboard.bin', 'line_break_'],
    )
  })

  const packed = { ...file('packed', 'x'.repeat(500)), method: 8 }
  const most = Array.from({ length: 1001 }, (_, index) => file(String(index)))
  const damaged = zipOf(file('a'))
  const over = { ...file('b', ''), offset: 0, size: 500, packed: 500 }
  const unlisted: Readonly<Record<string, Uint8Array>> = {
    'no archive': Buffer.from('nothing of the kind'),
    'an archive that is cut off': damaged.subarray(0, -10),
    'an archive without its beginning': damaged.subarray(20),
    'one with a file that is packed': zipOf(file('a'), packed),
    'one with a file that is encrypted': zipOf({ ...file('a'), flags: 1 }),
    'one whose file says another size': zipOf({ ...file('a', 'abc'), size: 2 }),
    'more than a thousand': zipOf(...most),
    'one whose names take much': zipOf(
      ...most.slice(1).map((_, index) => file(`${index}`.padEnd(300))),
    ),
    'one with a long name': zipOf(file('a'.repeat(1025))),
    'one with a name of slashes': zipOf(file(`${'/'.repeat(32)}a`)),
    'one with a file over another one': zipOf(file('a', 'x'.repeat(500)), over),
    'an empty one': zipOf(),
  }
  for (const [name, archive] of Object.entries(unlisted)) {
    // Protocol: else there is no list, and only the archive
    it(`are not listed of ${name}, which is downloaded as a whole`, async (t) => {
      const { members, get, url, path } = await serve(t, archive)
      assert.equal(members, undefined)
      assert.equal((await get('1')).status, 404)
      const whole = await fetch(`${url}${path}`)
      assert.deepEqual(Buffer.from(await whole.arrayBuffer()), Buffer.from(archive))
    })
  }

  it('that lie beyond the archive, or nowhere, are 404, and break nothing', async (t) => {
    const end = 0xfff0
    const entries = [{ ...file('a'), offset: end }, { ...file('b'), offset: 3 }, file('good')]
    const { get, logger } = await serve(t, zipOf(...entries))
    assert.equal((await get('1')).status, 404)
    assert.equal((await get('2')).status, 404)
    assert.equal(await (await get('3')).text(), 'good')
    assert.doesNotMatch(logger.text, /A request failed/)
  })

  it('are no files of an archive that somebody sends as a File', async (t) => {
    const { members, get } = await serve(t, zipOf(file('a')), 'File')
    assert.equal(members, undefined)
    assert.equal((await get('1')).status, 404)
  })

  it('are not told by a ticket for what is gone, and that is no error', async (t) => {
    const { phone, latest, get, logger } = await serve(t, zipOf(file('a')))
    const { blob } = latest.binary ?? {}
    assert.ok(blob !== undefined && 'discard' in blob)
    await blob.discard()
    const response = await phone.fetch('/phone/tickets', { method: 'POST' })
    assert.deepEqual([response.status, (await readObject(response))['members']], [200, undefined])
    assert.equal((await get('1')).status, 404)
    assert.doesNotMatch(logger.text, /A request failed/)
  })
})
