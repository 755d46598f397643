import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { cp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { xclipCopy, pasteUntil } from '../desktop/x11/support/xclip.ts'
import { makeRelease } from '../packaging/support/make-release.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  LAN_ADDRESS,
  needsUserSession,
  startDesktop,
  startUserSession,
  type UserSession,
} from '../support/user-session.ts'
import { Xvfb } from '../support/xvfb.ts'

const PAGE = readFileSync(new URL('../../docs/guides/first-hour.md', import.meta.url), 'utf8')

/** The commands of a step, and what the page says that they print. */
function readStep(heading: string): { readonly commands: string; readonly printed: string } {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith(heading)) ?? ''
  const [, commands = assert.fail(`there is a step "${heading}"`), printed = ''] =
    /```sh\n(.*?)```(?:\n\n```\n(.*?)```)?/s.exec(section) ?? []
  return { commands, printed }
}

/** A phone, as far as requests go: the fragment of the address that the code opens has its account. */
class Phone {
  readonly #session: UserSession
  readonly #url: string
  readonly #login: string

  constructor(session: UserSession, printed: string) {
    const [, url, fragment] = /(http:\/\/\S+)\/phone#(\S+)/.exec(printed) ?? []
    const account = JSON.parse(Buffer.from(fragment ?? '', 'base64url').toString())
    this.#session = session
    this.#url = url ?? assert.fail('there is an address')
    this.#login = `${account.user}:${account.pwd}`
  }

  ask(path: string, ...more: readonly string[]): Promise<string> {
    return this.#session.run('curl', '-sSf', '-u', this.#login, ...more, `${this.#url}${path}`)
  }

  async document(): Promise<Record<string, unknown>> {
    return JSON.parse(await this.ask('/Sync.json'))
  }

  /** Looks until it is there; the time limit of the test ends it. */
  async reads(text: string): Promise<void> {
    while ((await this.document())['text'] !== text);
  }

  async push(document: object): Promise<void> {
    await this.ask('/Sync.json', '-X', 'PUT', '-d', JSON.stringify(document))
  }
}

const required = [needsUserSession(), needs('Xvfb', 'xclip', 'make', 'sha256sum')]
const { skip } = required.find((each) => each.skip !== false) ?? { skip: false }

it('the walk of docs/guides/first-hour.md leads where it says', { skip }, async (t) => {
  const home = await temporaryFolder(t)
  await cp(await makeRelease(await temporaryFolder(t)), join(home, 'Downloads'), {
    recursive: true,
  })
  const { display } = await Xvfb.start(t)
  const variables = {
    DISPLAY: display,
    PATH: `${join(home, '.local/bin')}:${process.env['PATH']}`,
    HOME: home,
  }
  const logIn = async (): Promise<UserSession> => {
    const session = await startUserSession(t, home, variables)
    await startDesktop(session, home)
    return session
  }
  const follow = (session: UserSession, heading: string) =>
    session.run('sh', '-e', '-c', readStep(heading).commands)

  const evening = await logIn()
  // Another test has the Node inside; what this one needs of the archive, the small one has too.
  const install = readStep('1. Install').commands
  const small = install.replace('-linux-x64.tar.gz', '-linux.tar.gz')
  assert.notEqual(small, install)
  // As in a terminal that was open before: the page itself puts the program on the path.
  const before = `PATH=${process.env['PATH']}`
  const printed = await evening.run('env', before, 'sh', '-e', '-c', small)
  assert.match(printed, /: OK\n(?:.*\n)*clipgate 0\.1\.0\n$/)
  const installed = readStep('2. Let it').printed.replace('/home/you', home)
  assert.equal(await follow(evening, '2. Let it'), installed)
  // It fails where it finds something, as the firewall of whoever runs this test.
  const advice = await evening.run('sh', '-c', `${readStep('3. See').commands} true`)
  assert.match(advice, /^ok +/m)
  assert.match(advice, new RegExp(LAN_ADDRESS.replaceAll('.', '\\.')))
  const code = await follow(evening, '4. Add')
  const phone = new Phone(evening, code)
  assert.match(await phone.ask('/phone'), /<!doctype html>/i)

  await xclipCopy(t, display, 'a word of the computer')
  await phone.reads('a word of the computer')
  await phone.push({ type: 'Text', text: 'a word of the phone' })
  await pasteUntil(display, 'UTF8_STRING', 'a word of the phone')
  const send = async (type: string, name: string): Promise<Buffer> => {
    const sample = new URL(`../../fixtures/clients/samples/${name}`, import.meta.url)
    await phone.ask(`/file/${name}`, '-T', fileURLToPath(sample))
    await phone.push({ type, dataName: name, hasData: true })
    return readFile(sample)
  }
  await pasteUntil(display, 'image/jpeg', await send('File', 'photo.jpg'))
  const report = await send('File', 'report.pdf')
  const received = join(home, 'Downloads/clipgate/report.pdf')
  await pasteUntil(display, 'text/uri-list', `${pathToFileURL(received)}\r\n`)
  assert.ok((await readFile(received)).equals(report))
  const seen = await follow(evening, '5. Copy')
  assert.match(seen, /^Item +File, /m)
  assert.match(seen, /\bPhone\b/)
  await evening.end()

  const morning = await logIn()
  const again = await follow(morning, '6. The next morning')
  assert.match(again, /^Installed: .*\nIt runs\.$/m)
  assert.match(again, /^Item +File, /m)
  const awake = new Phone(morning, code)
  assert.equal((await awake.document())['dataName'], 'report.pdf')
  await xclipCopy(t, display, 'a word of the next day')
  await awake.reads('a word of the next day')

  await follow(morning, 'Uninstall')
  assert.deepEqual(await readdir(join(home, '.local/bin')), [])
  await assert.rejects(awake.document())
  assert.ok(existsSync(received))
  await morning.end()
})
