import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { type DaemonOptions, startDaemonProcess } from '../support/daemon-process.ts'
import { createPhone, type Phone } from '../support/phone.ts'
import type { RawResponse } from '../support/raw-http.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Xvfb } from '../support/xvfb.ts'
import { askOnce, FORM_TYPE, formatPart } from './support/raw-device.ts'
import { isOwnPath, takeSnapshot } from './support/snapshot.ts'
import { main, startHeadless } from './support/subject.ts'

/** In every name that is attacked with, so that what comes of one is found wherever it is. */
const MARK = `attack-${process.pid}`

/** Names that are paths, or become one on some system, or are none at all. */
const NEVER_NAMES: readonly string[] = [
  ['', '.', '..', '/', '\\'],
  [`../${MARK}`, `..\\${MARK}`, `../../../../../../tmp/${MARK}`, `/tmp/${MARK}`],
  [`./${MARK}`, `a/../../${MARK}`, `${MARK}/`, `${MARK}\\`],
  [`C:\\${MARK}`, `\\\\server\\share\\${MARK}`, `\\\\?\\C:\\${MARK}`],
  [`${MARK}\0`, `\0${MARK}`, `${MARK}.txt\0.png`, `${MARK}\n`, `${MARK}\r\nX-A: b`],
  [`${MARK}\x1b[2J`, `${MARK}\x7f`, `${MARK}\x85`, `${MARK}\u2028`, `${MARK}\u2029`],
  [MARK.padEnd(256, 'x'), `${MARK}${'é'.repeat(128)}`, MARK.padEnd(5000, 'x')],
].flat()

/** Names like all others to us, whatever another system makes of them. */
const STRANGE_NAMES: readonly string[] = [
  [`C:${MARK}`, `${MARK}:stream`, `${MARK}::$DATA`, `file:${MARK}`],
  [`${MARK}.`, `${MARK}...`, `.${MARK}`, `..${MARK}`, `${MARK} `, ` ${MARK}`],
  [`~${MARK}`, `-${MARK}`, `$(touch ${MARK})`, `\`touch ${MARK}\``, `${MARK}|touch ${MARK}`],
  [`%2e%2e%2f${MARK}`, `%252e%252e%252f${MARK}`, `..%c0%af${MARK}`, `．．／${MARK}`, `..;${MARK}`],
  [`CON.${MARK}`, `NUL.${MARK}`, `COM1.${MARK}`, `${MARK}*?<>"`, `${MARK}\u202egnp`],
].flat()

/** Spellings of a path that no encoding of a name gives. */
const RAW_PATHS: readonly string[] = [
  ['/file/..', '/file/.', '/file/../file/a', '/file/%2e', '/file/%2E%2e', '/file/%2e%2e/%2e%2e/a'],
  [`/file/..%2f${MARK}`, `/file/%2e%2e%2f${MARK}`, `/file/..%5c${MARK}`, `/file/..%255c${MARK}/a`],
  [`/file/../../../../../../tmp/${MARK}`, `/file//tmp/${MARK}`, `//tmp/${MARK}`, `/../${MARK}`],
  [`/file/${MARK}%00`, `/file/%00${MARK}`, `/file/${MARK}\\a/b`, `/file/a;/../../${MARK}`],
  // What is no UTF-8, and what is no percent-encoding.
  [`/file/%c0%ae%c0%ae%c0%af${MARK}`, `/file/%e0%80%af${MARK}`, `/file/%f0%80%80%af${MARK}`],
  [`/file/%ed%a0%80${MARK}`, `/file/%ed%b0%80${MARK}`, `/file/${MARK}%ff`],
  [`/file/${MARK}%`, `/file/${MARK}%4`, `/file/${MARK}%u002f`, `/file/${MARK}%zz`],
  [`/data/blobs/${MARK}`, '/file/../devices.json', '/devices.json', '/blobs'],
  [`/api/history/..%2f..%2f${MARK}`, `/api/history/../../${MARK}`, `/api/history/%2e%2e/${MARK}`],
  [`/api/history/File-..%2f${MARK}/data`, `/api/history/File-%00${MARK}/data`],
  [`/api/history/File-${MARK}/../data`, `/api/history/..-${MARK}/data`],
  [`/api/history/File/..%2f${MARK}`],
].flat()

/** A daemon among files that are none of its business. */
async function startAmongOthers(t: TestContext, options: DaemonOptions = {}) {
  const folder = await temporaryFolder(t)
  for (const name of ['data', 'received', 'elsewhere'])
    mkdirSync(join(folder, name), { mode: 0o700 })
  const others = ['victim', 'elsewhere/victim', 'data/victim', 'received/victim']
  for (const path of others) writeFileSync(join(folder, path), `not ours: ${path}`)
  const daemon = await startDaemonProcess(t, { main, folder, devices: ['Phone'], ...options })
  const device = await daemon.pair('Phone')
  const isOurs = (path: string): boolean => path.startsWith('data/') && isOwnPath(path.slice(5))
  const lookAround = () => takeSnapshot(folder, (path) => !isOurs(path))
  return {
    daemon,
    phone: createPhone(device, daemon.ready.gateway),
    lookAround,
    before: lookAround(),
    /** Sends a request whose target is exactly this. */
    ask: (line: string, headers = '', body = ''): Promise<RawResponse> => {
      // Each character of a request is a byte.
      return askOnce(daemon, line, device, Buffer.from(body).toString('latin1'), headers)
    },
  }
}

type Victim = Awaited<ReturnType<typeof startAmongOthers>>

function formOf(fields: Readonly<Record<string, string>>, disposition: string): string {
  const parts = Object.entries(fields).map(([name, value]) => formatPart(`name="${name}"`, value))
  return [...parts, formatPart(`name="data"; ${disposition}`, 'evil'), '--b--\r\n'].join('\r\n')
}

const encode = (name: string): string => encodeURIComponent(name).replaceAll("'", '%27')

/** Says a name wherever one can be said, and returns what was answered where. */
async function sayEverywhere(
  { ask }: Victim,
  name: string,
): Promise<Readonly<Record<string, number>>> {
  const path = `/file/${encode(name)}`
  const file = { type: 'File', hash: 'ab' }
  const put = (document: object) => ask('PUT /Sync.json', '', JSON.stringify(document))
  const post = (fields: Readonly<Record<string, string>>, disposition: string) =>
    ask('POST /api/history', FORM_TYPE, formOf({ ...file, ...fields }, disposition))
  // Quoted as browsers do; what ends a line cannot stand there.
  const quoted = name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  const word = `=?utf-8?B?${Buffer.from(name).toString('base64')}?=`
  const answers = {
    'the path of a PUT': ask(`PUT ${path}`, '', 'evil'),
    'the path of a GET': ask(`GET ${path}`),
    'the path of a HEAD': ask(`HEAD ${path}`),
    'a document': put({ type: 'Image', dataName: name, hasData: true }),
    'a document of a long text': put({ type: 'Text', dataName: name, hasData: true }),
    'an old document': put({ Type: 'File', File: name, Clipboard: '' }),
    'a form': ask(
      'POST /api/history',
      '',
      new URLSearchParams({ ...file, dataName: name }).toString(),
    ),
    'a multipart form': post({ dataName: name }, 'filename="a"'),
    'a file name': post({}, `filename="${quoted}"`),
    'an extended file name': post({}, `filename*=UTF-8''${encode(name)}`),
    'an encoded file name': post({}, `filename="${word}"`),
    'a profile id': ask(`GET /api/history/File-${encode(name)}`),
    'a profile id of bytes': ask(`GET /api/history/File-${encode(name)}/data`),
    'a hash': ask(`PATCH /api/history/File/${encode(name)}`),
    'a type': ask(`PATCH /api/history/${encode(name)}/ab`),
  }
  const entries = Object.entries(answers).map(async ([where, answer]) => [
    where,
    (await answer).status,
  ])
  return Object.fromEntries(await Promise.all(entries))
}

/** Checks that nothing was made outside, by looking where names could have led. */
function isUntouched({ lookAround, before, daemon }: Victim): void {
  assert.deepEqual(lookAround(), before)
  for (const folder of [tmpdir(), process.cwd(), '/', daemon.folder, '/tmp']) {
    const found = readdirSync(folder).filter((name) => name.includes(MARK))
    assert.deepEqual(found, [], `in ${folder}`)
  }
}

// Protocol: They never become paths inside the data directory
it('a name that is none is refused wherever it is said, and nothing is made, read or removed', async (t) => {
  const victim = await startAmongOthers(t, { args: ['--headless'] })
  const { phone, ask, daemon } = victim
  await phone.pushText('before')
  // A form says nothing with an empty name, and is given another.
  const asked = NEVER_NAMES.filter((name) => name !== '')
  for (const name of asked) {
    for (const [where, status] of Object.entries(await sayEverywhere(victim, name))) {
      const what = `${status} to ${JSON.stringify(name.slice(0, 60))} in ${where}`
      assert.ok([400, 404, 414].includes(status), what)
    }
  }
  for (const path of RAW_PATHS) {
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH']) {
      const { status } = await ask(`${method} ${path}`, '', method === 'PUT' ? 'evil' : '')
      assert.ok([400, 404, 405].includes(status), `${status} to ${method} ${path}`)
    }
  }
  assert.equal((await phone.document())['text'], 'before')
  isUntouched(victim)
  assert.deepEqual(readdirSync(join(daemon.folder, 'data', 'blobs')), [])
  assert.equal(daemon.stderr(), '')
})

/** Uploads a file under a strange name, and gets it back. */
async function goesThrough(phone: Phone, name: string): Promise<void> {
  const bytes = Buffer.from(`bytes of ${name}`)
  await phone.pushFile('File', name, bytes)
  const { dataName } = await phone.document()
  assert.equal(dataName, name)
  assert.deepEqual(await phone.download(), bytes)
}

it('a name that means something elsewhere means nothing here, and leads nowhere', async (t) => {
  const victim = await startAmongOthers(t, { args: ['--headless'] })
  for (const name of STRANGE_NAMES) {
    await goesThrough(victim.phone, name)
    for (const [where, status] of Object.entries(await sayEverywhere(victim, name))) {
      assert.ok([200, 400, 404].includes(status), `${status} to ${name} in ${where}`)
    }
  }
  isUntouched(victim)
  assert.equal(victim.daemon.stderr(), '')
})

it(
  'a name that means something elsewhere becomes a file in the folder of a desktop, and nothing else',
  needs('Xvfb'),
  async (t) => {
    const xvfb = await Xvfb.start(t)
    const victim = await startAmongOthers(t, { env: { DISPLAY: xvfb.display } })
    const { phone, daemon, lookAround, before } = victim
    for (const name of STRANGE_NAMES) await goesThrough(phone, name)
    // A text is put on the clipboard behind all files.
    await phone.pushText('after')
    assert.equal(await daemon.stop(), 0)
    const isReceived = (path: string): boolean => /^received\/(?!victim)[^/]+$/.test(path)
    const after = Object.entries(lookAround()).filter(([path]) => !isReceived(path))
    assert.deepEqual(Object.fromEntries(after), before)
    const received = readdirSync(join(daemon.folder, 'received'))
    for (const name of received) assert.doesNotMatch(name, /^\.|[/\\\0-\x1f\u202e]|[. ]$/)
    assert.ok(received.length > 1, 'nothing was received')
  },
)

const NAMES: readonly string[] = [
  ['a b.png', ' a', 'a ', 'a  b', '\u00a0', '.png', '..a', '...', '~', 'A', 'a'],
  ['100%.png', '%', '%41', '%2F', '%00', '%zz', 'a+b', '+', 'a&b=c;d', 'a#b?c', 'a:b'],
  ['[1](2){3}', "it's", '"quoted"', 'a"; filename="b', '`', '__proto__', 'constructor'],
  ['写真.png', 'かな', '한글', '\u00e9', 'e\u0301', '\u2126', '\u03a9', 'ﬁ', 'İ', 'ß'],
  ['🙂', '👩‍👩‍👧', '𝒳', '\u202ea', '\u200b', '\ufeffa', 'x'.repeat(255), '写'.repeat(85)],
].flat()

/** The name that a browser would give to a download. */
function nameInHeader(disposition: string): string {
  const [, extended] = /filename\*=UTF-8''([^;]+)$/.exec(disposition) ?? []
  if (extended !== undefined) return decodeURIComponent(extended)
  return /^attachment; filename="([^"]*)"$/.exec(disposition)?.[1] ?? ''
}

it('a name of any kind comes back byte for byte, from a path, a document and a form', async (t) => {
  const { phone, ask } = await startAmongOthers(t, { args: ['--headless'] })
  for (const name of NAMES) {
    await goesThrough(phone, name)
    const got = await ask(`GET /file/${encode(name)}`)
    assert.equal(nameInHeader(got.headers['content-disposition'] ?? ''), name)

    // Other bytes, or it would be the same push.
    const fields = { type: 'File', hash: 'ab' }
    const body = formOf(fields, `filename*=UTF-8''${encode(name)}`)
    assert.equal((await ask('POST /api/history', FORM_TYPE, body)).status, 200, name)
    assert.equal((await phone.document())['dataName'], name)
    assert.equal(String(await phone.download()), 'evil')
  }
})

it('a name of any kind is not taken for one that only looks like it, nor after a restart', async (t) => {
  const { phone, daemon } = await startAmongOthers(t, { args: ['--headless'] })
  const twins = [
    ['\u00e9', 'e\u0301'],
    ['\u2126', '\u03a9'],
    ['a', 'A'],
    ['ﬁ', 'fi'],
    ['a ', 'a'],
    ['%41', 'A'],
  ] as const
  for (const pair of twins) {
    const put = (name: string, path: string, body: string) =>
      phone
        .fetch(path, { method: 'PUT', body })
        .then(({ status }) => assert.equal(status, 200, name))
    for (const name of pair) await put(name, `/file/${encode(name)}`, `bytes of ${name}`)
    for (const name of pair) {
      await put(name, '/Sync.json', JSON.stringify({ type: 'File', dataName: name }))
      assert.equal(String(await phone.download()), `bytes of ${name}`)
    }
    assert.equal((await phone.fetch(`/file/${encode(pair[0])}`)).status, 404)
  }
  const { dataName, hash } = await phone.document()
  await daemon.stop()
  const again = await startHeadless(t, { folder: daemon.folder })
  const [user = '', password = ''] = atob(phone.authorization.slice(6)).split(':')
  const document = await createPhone({ username: user, password }, again.ready.gateway).document()
  assert.deepEqual([document['dataName'], document['hash']], [dataName, hash])
})
