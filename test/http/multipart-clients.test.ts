import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { route } from '../../src/http/call.ts'
import { parseBoundary } from '../../src/http/field-values.ts'
import { readMultipart } from '../../src/http/multipart.ts'
import { StreamedBody } from '../../src/http/read-body.ts'
import { json } from '../../src/http/reply.ts'
import type { PartHeader } from '../../src/http/part-header.ts'
import { serveKernel } from '../support/http-kernel.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { parseForm } from './support/parse-form.ts'
import { execute } from '../support/execute.ts'

interface Sample {
  readonly client: string
  readonly contentType: string
  /** The header lines of each part, and its body. */
  readonly sent: readonly (readonly string[])[]
  /** What stands behind the last delimiter; a line end unless given. */
  readonly end?: string
  /** Name, file name, type, body. */
  readonly parts: readonly (readonly (string | undefined)[])[]
}

const NONE = undefined

/** What clients send, with the bytes of the file cut down to `hello`. */
const SAMPLES: readonly Sample[] = [
  {
    client: 'fetch with an empty FormData',
    contentType: 'multipart/form-data; boundary=----formdata-undici-033571695981',
    sent: [],
    parts: [],
  },
  {
    client: 'Python email, which quotes the boundary and folds',
    contentType: 'multipart/form-data; boundary="===============2934334172578823408=="',
    sent: [
      [
        'Content-Type: text/plain',
        'MIME-Version: 1.0',
        'Content-Disposition: form-data; name="type"',
        'File',
      ],
      [
        'Content-Type: application/octet-stream',
        'MIME-Version: 1.0',
        'Content-Disposition: form-data; name="data";',
        ' filename="a rather long name of a file, which mail libraries fold.txt"',
        'hello',
      ],
    ],
    parts: [
      ['type', NONE, 'text/plain', 'File'],
      [
        'data',
        'a rather long name of a file, which mail libraries fold.txt',
        'application/octet-stream',
        'hello',
      ],
    ],
  },
  {
    client: 'OkHttp, which measures parts and sends names in UTF-8',
    contentType: 'multipart/form-data; boundary=3f1b0c1e-1d7a-4f0e-8f3a-2b6f6a1f9c55',
    sent: [
      ['Content-Disposition: form-data; name="type"', 'Content-Length: 5', 'Image'],
      [
        'Content-Disposition: form-data; name="data"; filename="截图 %22 1.png"',
        'Content-Type: image/png',
        'Content-Length: 5',
        'hello',
      ],
    ],
    parts: [
      ['type', NONE, NONE, 'Image'],
      ['data', '截图 " 1.png', 'image/png', 'hello'],
    ],
  },
  {
    client: '.NET, which leaves out quotes and sends file names twice',
    contentType: 'multipart/form-data; boundary="0f7c2b1e-6a53-4d0e-9c59-8a4be1f0d7aa"',
    sent: [
      [
        'Content-Type: text/plain; charset=utf-8',
        'Content-Disposition: form-data; name=type',
        'Image',
      ],
      [
        `Content-Disposition: form-data; name=data; filename="=?utf-8?B?5Zu+LnBuZw==?="; filename*=utf-8''%E5%9B%BE.png`,
        'hello',
      ],
    ],
    parts: [
      ['type', NONE, 'text/plain; charset=utf-8', 'Image'],
      ['data', '图.png', NONE, 'hello'],
    ],
  },
  {
    client: 'iOS Shortcuts',
    contentType: 'multipart/form-data; boundary=Boundary-5D0A3E0C-6A0B-4B5E-9F3C-3B8E0C0A9D11',
    sent: [
      ['Content-Disposition: form-data; name="type"', 'Image'],
      [
        'Content-Disposition: form-data; name="data"; filename="IMG_0001.HEIC"',
        'Content-Type: image/heic',
        'hello',
      ],
    ],
    end: '',
    parts: [
      ['type', NONE, NONE, 'Image'],
      ['data', 'IMG_0001.HEIC', 'image/heic', 'hello'],
    ],
  },
  {
    client: 'Dart, which writes header names in lower case',
    contentType: 'multipart/form-data; boundary=dart-http-boundary-+_c.AbC-dEf_GhI+jKl.MnO',
    sent: [
      [
        'content-disposition: form-data; name="text"',
        'content-type: text/plain; charset=utf-8',
        'content-transfer-encoding: binary',
        'hé',
      ],
      [
        'content-type: application/octet-stream',
        'content-disposition: form-data; name="data"; filename="a.bin"',
        'hello',
      ],
    ],
    parts: [
      ['text', NONE, 'text/plain; charset=utf-8', 'hé'],
      ['data', 'a.bin', 'application/octet-stream', 'hello'],
    ],
  },
  {
    client: 'uploads after the old Android sample',
    contentType: 'multipart/form-data;boundary=*****',
    sent: [['Content-Disposition: form-data; name="data";filename="/sdcard/a.png"', 'hello']],
    parts: [['data', '/sdcard/a.png', NONE, 'hello']],
  },
  {
    client: 'a browser whose file input is empty',
    contentType: 'multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW',
    sent: [
      [
        'Content-Disposition: form-data; name="data"; filename=""',
        'Content-Type: application/octet-stream',
        '',
      ],
    ],
    parts: [['data', '', 'application/octet-stream', '']],
  },
]

/** Answers with what is in a form. */
async function serve(t: TestContext): Promise<string> {
  const limits = {
    maxFileBytes: 2 ** 30,
    maxFieldBytes: 1000,
    maxFieldsBytes: 1000,
    isFile: ({ fileName }: PartHeader) => fileName !== undefined,
  }
  const { url } = await serveKernel(t, {
    routes: [
      route(
        'POST',
        '/form',
        async (call) => {
          const body = new StreamedBody(call, 2 ** 30)
          const parts: unknown[] = []
          const type = call.request.headers['content-type'] ?? ''
          for await (const { name, fileName, bytes } of readMultipart(body, type, limits)) {
            let size = 0
            for await (const chunk of bytes) size += chunk.length
            parts.push([name, fileName ?? '', size])
          }
          return json(parts)
        },
        { maxBody: 2 ** 30 },
      ),
    ],
  })
  return `${url}/form`
}

describe('a form', () => {
  for (const { client, contentType, sent, end = '\r\n', parts } of SAMPLES) {
    it(`of ${client} is read`, () => {
      const boundary = parseBoundary(contentType)
      const pieces = sent.map((lines) =>
        [`--${boundary}`, ...lines.slice(0, -1), '', lines.at(-1), ''].join('\r\n'),
      )
      const form = `${pieces.join('')}--${boundary}--${end}`
      const { parts: read, error } = parseForm(form, { boundary })
      assert.equal(error, undefined)
      const found = read.map(({ name, fileName, contentType: type, body }) => {
        return [name, fileName, type, Buffer.from(body, 'latin1').toString()]
      })
      assert.deepEqual(found, parts)
    })
  }

  const bytes = Buffer.alloc(3_000_000, '\r\n--')
  const expected = [
    ['type', '', 4],
    ['data', 'ü "1".bin', bytes.length],
  ]

  it('arrives from curl', needs('curl'), async (t) => {
    const url = await serve(t)
    const path = await temporaryFile(t, 'ü "1".bin', bytes)
    const file = `data=@"${path.replaceAll('"', '\\"')}"`
    const { stdout } = await execute('curl', [
      '-sS',
      '-H',
      'Authorization: yes',
      '-F',
      'type=File',
      '-F',
      file,
      url,
    ])
    assert.deepEqual(JSON.parse(stdout), expected)
  })

  it('arrives from fetch', async (t) => {
    const body = new FormData()
    body.set('type', 'File')
    body.set('data', new Blob([bytes]), 'ü "1".bin')
    const headers = { authorization: 'yes' }
    const response = await fetch(await serve(t), { method: 'POST', headers, body })
    assert.deepEqual(await response.json(), expected)
  })

  it('arrives from Python', needs('python3'), async (t) => {
    const script = `
import sys, urllib.request
url, path = sys.argv[1:]
b = 'ab12'
start = f'--{b}\\r\\nContent-Disposition: form-data; '
head = start + 'name="type"\\r\\n\\r\\nFile\\r\\n'
head += start + 'name="data"; filename="ü \\\\"1\\\\".bin"\\r\\n\\r\\n'
body = head.encode() + open(path, 'rb').read() + f'\\r\\n--{b}--\\r\\n'.encode()
headers = {'Content-Type': f'multipart/form-data; boundary={b}', 'Authorization': 'yes'}
with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
    print(answer.read().decode())
`
    const url = await serve(t)
    const path = await temporaryFile(t, 'ü "1".bin', bytes)
    const { stdout } = await execute('python3', ['-c', script, url, path])
    assert.deepEqual(JSON.parse(stdout), expected)
  })

  it('that is refused midway is answered, and the connection ends', async (t) => {
    const body = new FormData()
    body.set('a', 'x'.repeat(200_000))
    const headers = { authorization: 'yes' }
    const response = await fetch(await serve(t), { method: 'POST', headers, body })
    assert.equal(response.status, 413)
    assert.equal(JSON.parse(await response.text()).code, 'FIELD_TOO_LARGE')
    assert.equal(response.headers.get('connection'), 'close')
  })
})
