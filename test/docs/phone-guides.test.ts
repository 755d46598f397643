import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import { runInNewContext } from 'node:vm'
import { sample } from '../compat/support/client.ts'
import { serveGateway } from '../support/gateway.ts'
import { findRows } from './support/guide-rows.ts'
import { runShortcut } from './support/shortcut.ts'

const PAGE = readFileSync(new URL('../../docs/guides/phones.md', import.meta.url), 'utf8')

/** A phone that is paired as the page says, and another one to look with. */
async function open(t: TestContext) {
  const { url, device, password, addPhone } = await serveGateway(t)
  const { username } = device
  const situation = { url, login: `${username}:${password}` }
  return { url, words: { USER: username, PASSWORD: password }, situation, other: await addPhone() }
}

const photo = Buffer.from(sample('photo.jpg'))

describe('the shortcuts for iPhones in docs/guides/phones.md', () => {
  const section = 'From the computer'
  const text = 'Ünïcode, "quotes" and\nlines'

  it('copy a text of the computer', async (t) => {
    const { situation, other } = await open(t)
    await other.pushText(text)
    assert.equal(await runShortcut(PAGE, section, situation), text)
  })

  it('copy a photo of the computer', async (t) => {
    const { situation, other } = await open(t)
    await other.pushFile('Image', 'a photo ü.jpg', photo)
    const copied = await runShortcut(PAGE, section, situation)
    assert.ok(Buffer.isBuffer(copied) && copied.equals(photo))
  })

  it('send a text to the computer, and nothing when there is none', async (t) => {
    const { situation, other } = await open(t)
    for (const clipboard of [text, '']) {
      await runShortcut(PAGE, 'To the computer', { ...situation, clipboard })
      const document = await other.document()
      assert.deepEqual([document['type'], document['text']], ['Text', text])
    }
  })

  it('share photos and files with the computer', async (t) => {
    const { situation, other } = await open(t)
    const page = { name: '报告 50% #1', extension: 'txt', bytes: Buffer.from('a page') }
    const image = { name: 'IMG_0042', extension: 'jpg', bytes: photo }
    for (const [shared, type, dataName] of [
      [[image, page], 'File', '报告 50% #1.txt'],
      [[image], 'Image', 'IMG_0042.jpg'],
    ] as const) {
      await runShortcut(PAGE, 'Share to the computer', { ...situation, shared })
      const document = await other.document()
      assert.deepEqual([document['type'], document['dataName']], [type, dataName])
      assert.ok((await other.download()).equals(shared.at(-1)?.bytes ?? assert.fail()))
    }
  })

  it('copy what the page says when the password is wrong', async (t) => {
    const { situation } = await open(t)
    const wrong = { ...situation, login: 'nobody:nothing' }
    const copied = await runShortcut(PAGE, section, wrong)
    const [, said] = /the clipboard has a text with `(\w+)`/.exec(PAGE) ?? []
    assert.ok(said !== undefined && String(copied).includes(said), String(copied))
  })
})

/** Makes the request of a shortcut for Android in docs/guides/phones.md, as the app would. */
async function runHttpShortcut(
  section: string,
  url: string,
  words: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const fields = new Map(
    findRows(PAGE, section).map(([, field = '', value = '']) => [
      field,
      value.replace(/^`(.*)`$/, '$1'),
    ]),
  )
  const field = (name: string) => {
    const value = fields.get(name) ?? assert.fail(`there is a field "${name}"`)
    return words[value] ?? value.replace(/^URL/, url)
  }
  assert.equal(field('Authentication Method'), 'Basic Authentication')
  const login = Buffer.from(`${field('Username')}:${field('Password')}`).toString('base64')
  const headers = new Headers({ authorization: `Basic ${login}`, 'user-agent': 'HttpShortcuts/3' })
  if (fields.has('Content Type')) headers.set('content-type', field('Content Type'))
  const encoded = JSON.stringify(words['clipboard'] ?? '').slice(1, -1)
  const body = fields.get('Request Body')?.replace('{clipboard}', () => encoded) ?? null
  const answer = await fetch(field('URL'), { method: field('Method'), headers, body })
  assert.equal(answer.status, 200)
  const copied: string[] = []
  const copyToClipboard = (text: string) => void copied.push(text)
  const response = { body: await answer.text() }
  if (fields.has('Run on Success')) {
    runInNewContext(field('Run on Success'), { response, copyToClipboard })
  }
  return copied.at(-1)
}

describe('the shortcuts for Android in docs/guides/phones.md', () => {
  const text = 'Ünïcode, "quotes" and\nlines'

  it('copy a text of the computer', async (t) => {
    const { url, words, other } = await open(t)
    await other.pushText(text)
    assert.equal(await runHttpShortcut('From the computer to Android', url, words), text)
  })

  it('send a text to the computer', async (t) => {
    const { url, words, other } = await open(t)
    await runHttpShortcut('From Android to the computer', url, { ...words, clipboard: text })
    assert.equal((await other.document())['text'], text)
  })
})
