import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Enclosure } from './support/enclosure.ts'
import { secret } from './support/secrets.ts'

/** A program that tells everybody what it reads on its stdin, in the way that its argument says. */
const TALKATIVE = `
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
const secret = readFileSync(0, 'utf8')
const base64 = Buffer.from(secret).toString('base64')
const data = process.env.CLIPGATE_DATA_DIR
const tmp = process.env.TMPDIR
mkdirSync(data, { mode: 0o700 })
const mode = 0o600
const sleep = ['-e', 'process.stdin.resume()']
const stdio = ['pipe', 'ignore', 'ignore']
const ways = {
  'print it': () => console.log(base64),
  'complain about it': () => console.error(encodeURIComponent(secret)),
  'write it to a file': () => writeFileSync(data + '/notes', base64, { mode }),
  'call a file after it': () => writeFileSync(data + '/' + secret, '', { mode }),
  'call a folder after it': () => mkdirSync(data + '/' + secret, { mode: 0o700 }),
  'make a link to it': () => symlinkSync(secret, data + '/link'),
  'leave it in the temporary folder': () => writeFileSync(tmp + '/x', secret, { mode }),
  'pass it as an argument': () => spawn(process.execPath, [...sleep, secret], { stdio }),
  'pass it in the environment': () => spawn(process.execPath, sleep, { env: { secret }, stdio }),
  'write a file that all can read': () => writeFileSync(data + '/file', ''),
  'make a folder that all can enter': () => mkdirSync(data + '/folder'),
  'behave': () => writeFileSync(data + '/kept', secret, { mode }),
}
ways[process.argv[2]]()
console.log('done')
setInterval(() => {}, 1000)
process.on('SIGTERM', () => process.exit())
`

const EXPECTED: Readonly<Record<string, RegExp | undefined>> = {
  'print it': /^stdout of print it: password \(base64/,
  'complain about it': /^stderr of complain about it: password/,
  'write it to a file': /^now, content of "data\/notes".*password \(base64/,
  'call a file after it': /^now, name of "data\/.*password/,
  'call a folder after it': /^now, name of "data\/.*password/,
  'make a link to it': /^now, content of "data\/link".*password/,
  'leave it in the temporary folder': /^now, content of "tmp\/x".*password/,
  'pass it as an argument': /^arguments of .*password/,
  'pass it in the environment': /^environment of .*password/,
  'write a file that all can read': /^now, mode of "data\/file": 666$/,
  'make a folder that all can enter': /^now, mode of "data\/folder": 777$/,
  behave: undefined,
}

for (const [way, expected] of Object.entries(EXPECTED)) {
  it(`the enclosure notices programs that ${way}`, async (t) => {
    const main = join(await temporaryFolder(t), 'talkative.mjs')
    await writeFile(main, TALKATIVE)
    const places = [{ path: /^data\/kept$/, holds: ['password'] }]
    const enclosure = await Enclosure.open(t, { main, places })
    const running = await enclosure.start([way], { stdin: secret('password') })
    await running.printed(/done/)
    await enclosure.look('now')
    running.child.kill()
    await enclosure.end(running)
    const isFound = expected === undefined || enclosure.leaks.some((leak) => expected.test(leak))
    assert.ok(isFound, enclosure.leaks.join('\n'))
    assert.deepEqual(
      enclosure.leaks.filter((leak) => expected?.test(leak) !== true),
      [],
    )
  })
}
