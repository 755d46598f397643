import assert from 'node:assert/strict'
import { existsSync, readFileSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { GIB } from '../../src/core/limits.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { byNight } from '../support/night.ts'
import { createPhone, readObject } from '../support/phone.ts'
import { needs, without } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { execute } from '../support/execute.ts'
import { makeLargeFile, type LargeFile } from '../support/large-file.ts'

const SIZE = byNight(2 * GIB, { byDay: GIB / 2 })

/** The daemon's peak while it takes them, over what it had before; four at once take 55 MiB. */
const MEMORY_BOUND_MIB = 128

/** The file is sparse, but not what the daemon keeps of it, and of the one before it. */
const DISK_BYTES = 2.5 * SIZE

const PYTHON = `
import base64, http.client, os, sys
url, path, digest, name = sys.argv[1:5]
auth = 'Basic ' + base64.b64encode(os.environ['LOGIN'].encode()).decode()
headers = {'Authorization': auth, 'Content-Type': 'multipart/form-data; boundary=py'}
field = '--py\\r\\nContent-Disposition: form-data; name="%s"\\r\\n\\r\\n%s\\r\\n'
part = '--py\\r\\nContent-Disposition: form-data; name="data"; filename="%s"\\r\\n\\r\\n'
def body():
    yield (field % ('type', 'File') + field % ('hash', digest) + part % name).encode()
    with open(path, 'rb') as file:
        while chunk := file.read(1 << 20):
            yield chunk
    yield b'\\r\\n--py--\\r\\n'
connection = http.client.HTTPConnection(url.split('/')[2])
try:
    connection.request('POST', '/api/history', body=body(), headers=headers)
except BrokenPipeError:
    pass  # The answer says why.
print(connection.getresponse().status)
`

/** Where a client uploads to, and what the file is to be called. */
type Target = Readonly<Record<'url' | 'username' | 'password' | 'name', string>>

type Client = (file: LargeFile, target: Target) => Promise<void>

const uploadWithCurl: Client = async ({ path, sha256 }, { url, username, password, name }) => {
  const fields = ['-F', `data=@${path};filename=${name}`, '-F', 'type=File', '-F', `hash=${sha256}`]
  const running = execute('curl', ['-sS', '--fail', '-K', '-', ...fields, url])
  running.child.stdin?.end(`user = "${username}:${password}"\n`)
  await running
}

const uploadInChunks: Client = async ({ path, sha256 }, { url, username, password, name }) => {
  const env = { ...process.env, LOGIN: `${username}:${password}` }
  const { stdout } = await execute('python3', ['-c', PYTHON, url, path, sha256, name], { env })
  assert.equal(stdout.trim(), '200')
}

/** MiB: what is resident, and the most that was since `resetPeak`. */
function readMemory(pid: number): { readonly resident: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mebibytes = (name: string): number => {
    const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
    return Number(kibibytes) / 1024
  }
  return { resident: mebibytes('VmRSS'), peak: mebibytes('VmHWM') }
}

/** See proc(5). */
const resetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5')

const canMeasure = existsSync('/proc/self/clear_refs')

function needsDisk(): { readonly skip: string | false } {
  const { bavail, bsize } = statfsSync(tmpdir())
  if (bavail * bsize > DISK_BYTES) return { skip: false }
  return without('5 GiB of disk')
}

it(
  'POST /api/history takes a file that is much larger than its memory from',
  needsDisk(),
  async (t) => {
    const file = await makeLargeFile(join(await temporaryFolder(t), 'large.bin'), SIZE)
    const daemon = await startDaemonProcess(t, { args: ['--headless'], devices: ['Client'] })
    const device = await daemon.pair('Client')
    const { gateway, pid } = daemon.ready
    const phone = createPhone(device, gateway)
    // The first login takes memory of its own.
    await phone.document()

    for (const [client, tools, upload] of [
      ['curl -F', ['curl'], uploadWithCurl],
      ['http.client, in chunks', ['python3'], uploadInChunks],
    ] as const) {
      await t.test(client, needs(...tools), async (t) => {
        const name = `${client.replaceAll(/\W+/g, '-')}.bin`
        if (canMeasure) resetPeak(pid)
        const before = canMeasure ? readMemory(pid).resident : 0
        await upload(file, { ...device, name, url: `${gateway}/api/history` })

        const over = canMeasure ? readMemory(pid).peak - before : 0
        t.diagnostic(`${over.toFixed(0)} MiB over ${before.toFixed(0)} MiB`)
        assert.ok(over < MEMORY_BOUND_MIB, `${over.toFixed(0)} MiB over ${before.toFixed(0)} MiB`)
        const { type, size, hash, dataName } = await phone.document()
        assert.deepEqual([type, size, hash, dataName], ['File', SIZE, file.sha256, name])
        const record = await readObject(await phone.fetch(`/api/history/File-${file.sha256}`))
        assert.deepEqual([record['size'], record['text']], [SIZE, name])
      })
    }
    assert.equal(await daemon.stop(), 0)
  },
)
