import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { PNG } from 'pngjs'
import decodeQR from 'qr/decode.js'
import { drawQr } from '../../src/cli/qr.ts'
import { formatConnectLink } from '../../src/link/connect-link.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { photograph, readCells } from './support/read-screen.ts'
import { execute } from '../support/execute.ts'

/** A link as `pair` makes it, with a URL of the given length. */
function link(urlLength: number): string {
  return formatConnectLink({
    url: `http://${'a'.repeat(urlLength - 7)}`,
    user: `mobile_${randomBytes(4).toString('hex')}`,
    pwd: randomBytes(16).toString('base64url'),
    o: {
      did: `did_${randomBytes(16).toString('hex')}`,
      label: 'Living room tablet',
      proto: 'syncclipboard',
    },
  })
}

function withAlpha(data: Uint8Array): Buffer {
  return Buffer.from(
    Array.from({ length: (data.length / 3) * 4 }, (_, at) => {
      return at % 4 === 3 ? 255 : (data[Math.floor(at / 4) * 3 + (at % 4)] ?? 0)
    }),
  )
}

describe('drawQr()', () => {
  it('draws what a camera reads back, whatever the length of the link', async () => {
    for (const length of [20, 60, 150, 350]) {
      const text = link(length)
      const { lines, columns } = await drawQr(text)
      assert.equal(decodeQR(photograph(lines, columns)), text)
    }
  })

  it('draws what another reader of codes reads, too', needs('zbarimg'), async (t) => {
    const file = join(await temporaryFolder(t), 'code.png')
    for (const border of [4, 2]) {
      const text = `${link(28)}&border=${border}`
      const { lines, columns } = await drawQr(text, border)
      const { width, height, data } = photograph(lines, columns)
      const png = new PNG({ width, height })
      png.data = withAlpha(data)
      await writeFile(file, PNG.sync.write(png))
      const read = await execute('zbarimg', ['--quiet', '--raw', file])
      assert.equal(read.stdout.trimEnd(), text)
    }
  })

  it('fits 80 columns with any usual link', async () => {
    const { lines, columns } = await drawQr(link('http://192.168.100.200:42720'.length))
    assert.ok(columns <= 80, `${columns} columns`)
    for (const line of lines) assert.equal(readCells(line).length, columns)
  })

  it('is black on white whatever the theme, with four modules of white around it', async () => {
    const { lines, columns } = await drawQr(link(30))
    const rows = lines.map(readCells)
    const isWhite = (cells: ReturnType<typeof readCells>) =>
      cells.every(({ upper, lower }) => upper === 255 && lower === 255)
    for (const row of [0, 1, -1, -2]) assert.ok(isWhite(rows.at(row) ?? []))
    for (const row of rows) {
      assert.ok(isWhite(row.slice(0, 4)))
      assert.ok(isWhite(row.slice(columns - 4)))
    }
    for (const line of lines) assert.match(line, /\u001b\[0m$/)
  })
})
