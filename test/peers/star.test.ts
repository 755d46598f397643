import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { MIB } from '../../src/core/limits.ts'
import { pasteUntil, xclipCopy, xclipPaste } from '../desktop/x11/support/xclip.ts'
import { byNight } from '../support/night.ts'
import { createPhone } from '../support/phone.ts'
import { sha256 } from '../support/hashes.ts'
import { needs } from '../support/requirements.ts'
import { Xvfb } from '../support/xvfb.ts'
import type { CountingProxy } from './support/counting-proxy.ts'
import { arrives } from './support/daemons.ts'
import { hashOnlyFile, makeLargeFile } from './support/large-file.ts'
import { MemberProcess } from './support/member-process.ts'
import { joinByProxy, makePng, TALK_BYTES } from './support/topology.ts'

async function joinAll(
  t: TestContext,
  node: MemberProcess,
  others: readonly MemberProcess[],
): Promise<readonly CountingProxy[]> {
  return Promise.all(others.map((member) => joinByProxy(t, member, node)))
}

/** A node in the middle, a desktop on X11, and two members without one. */
async function startStar(t: TestContext) {
  const [screen, untouched] = await Promise.all([Xvfb.start(), Xvfb.start()])
  t.after(() => Promise.all([screen.stop(), untouched.stop()]))
  const desktop = { args: [], env: { DISPLAY: screen.display } }
  const [node, desk, b, c] = await Promise.all([
    // It could write a clipboard, if it wanted to.
    MemberProcess.start(t, 'node', { env: { DISPLAY: untouched.display } }),
    MemberProcess.start(t, 'desk', desktop),
    MemberProcess.start(t, 'b'),
    MemberProcess.start(t, 'c'),
  ])
  const { ready, stderr } = desk.daemon
  assert.deepEqual([ready.mode, ready.clipboard], ['desktop', 'x11'], stderr())
  const [link] = await joinAll(t, node, [desk, b, c])
  assert.ok(link !== undefined, 'there are links')
  const { display } = screen
  const members = [node, desk, b, c]
  return { node, desk, b, c, members, link, display, untouched: untouched.display }
}

describe('a node and three members, one of them a desktop', needs('Xvfb', 'xclip'), () => {
  it('have one clipboard, and each item in it once', async (t) => {
    const star = await startStar(t)
    const { node, desk, b, c, members, display } = star
    const order: string[] = []
    const everybody = async (contentId: string): Promise<void> => {
      order.push(contentId)
      await Promise.all(members.map(({ log }) => log.has(contentId)))
    }
    const copied = async (fits: Parameters<typeof arrives>[1]): Promise<void> => {
      const { contentId } = await arrives(node, fits)
      await everybody(String(contentId))
    }
    const holdsEverywhere = async (bytes: Uint8Array): Promise<void> => {
      for (const { phone, name } of members) {
        assert.equal(sha256(await phone.download()), sha256(bytes), name)
      }
    }

    // What is copied on the desktop.
    await xclipCopy(t, display, 'copied: äöü 🙂', 'UTF8_STRING')
    await copied(({ text }) => text === 'copied: äöü 🙂')
    const picture = makePng(400, 300)
    await xclipCopy(t, display, picture, 'image/png')
    await copied(({ type }) => type === 'Image')
    await holdsEverywhere(picture)
    const file = randomBytes(2 * MIB)
    const path = join(desk.daemon.folder, 'a file é.bin')
    await writeFile(path, file)
    await xclipCopy(t, display, `${pathToFileURL(path)}\r\n`, 'text/uri-list')
    await copied(({ type }) => type === 'File')
    await holdsEverywhere(file)

    // What comes to it from elsewhere.
    await everybody(await b.client.pushText('from b'))
    await pasteUntil(display, 'UTF8_STRING', Buffer.from('from b'))
    const other = makePng(400, 300)
    const blob = new Blob([other], { type: 'image/png' })
    await everybody(await c.client.pushFile(blob, { dataName: 'from c.png' }))
    await pasteUntil(display, 'image/png', other)
    await holdsEverywhere(other)
    const phone = createPhone(await node.daemon.pair('Phone'), node.gateway)
    await phone.pushFile('File', 'from a phone.bin', file.subarray(MIB))
    await copied(({ dataName }) => dataName === 'from a phone.bin')
    const received = join(desk.daemon.folder, 'received', 'from a phone.bin')
    await pasteUntil(display, 'text/uri-list', Buffer.from(`${pathToFileURL(received)}\r\n`))
    const uris = String(await xclipPaste(display, 'text/uri-list'))
    assert.equal(sha256(await readFile(fileURLToPath(uris.trim()))), sha256(file.subarray(MIB)))

    // An echo of anything would have come before these have been everywhere.
    for (const { client, name } of [node, b, c, desk]) {
      await everybody(await client.pushText(`at last ${name}`))
    }
    await pasteUntil(display, 'UTF8_STRING', Buffer.from('at last desk'))
    await xclipCopy(t, display, 'the end', 'UTF8_STRING')
    await copied(({ text }) => text === 'the end')
    const stamp = await desk.stamp()
    for (const member of members) {
      assert.deepEqual(member.log.ids, order, member.name)
      assert.deepEqual(await member.stamp(), stamp, member.name)
      assert.doesNotMatch(member.daemon.stderr(), / (warn|error) /)
    }
    for (const target of ['TARGETS', 'UTF8_STRING']) {
      assert.equal(await xclipPaste(star.untouched, target), undefined, 'nobody wrote that one')
    }

    await t.test('also after the desktop was away, which gets the newest alone', async () => {
      const { bytes } = star.link
      await desk.stop()
      await c.client.pushText('meanwhile')
      await phone.pushFile('File', 'meanwhile.bin', randomBytes(4 * MIB))
      await c.log.has(String((await arrives(c, ({ type }) => type === 'File')).contentId))
      const newest = await b.client.pushText('newest')
      await desk.start()
      await pasteUntil(display, 'UTF8_STRING', Buffer.from('newest'))
      const last = await c.client.pushText('and on')
      await desk.log.has(last)
      assert.deepEqual(
        desk.log.ids.filter((id) => id !== newest),
        [last],
      )
      const received = await readdir(join(desk.daemon.folder, 'received'))
      assert.deepEqual(received, ['from a phone.bin'])
      assert.ok(star.link.bytes - bytes < TALK_BYTES, 'the file never went there')
    })
  })
})

describe('a node and three members', () => {
  it('have a large file, which goes over each link once', async (t) => {
    const names = ['node', 'a', 'b', 'c']
    const all = names.map((name) => MemberProcess.start(t, name))
    const [node, a, b, c] = await Promise.all(all)
    assert.ok(node && a && b && c, 'all are there')
    const links = await joinAll(t, node, [a, b, c])
    const file = makeLargeFile(byNight(1024, { byDay: 96 }))
    await a.client.upload(file, { dataName: 'large.bin', mediaType: file.type })
    await a.phone.fetch('/Sync.json', {
      method: 'PUT',
      body: JSON.stringify({ type: 'File', dataName: 'large.bin', hasData: true }),
    })
    const { contentId } = await a.client.latest()
    const members = [node, a, b, c]
    await Promise.all(members.map(({ log }) => log.has(String(contentId))))
    const end = await c.client.pushText('the end')
    await Promise.all(members.map(({ log }) => log.has(end)))
    for (const { daemon, log, name } of members) {
      assert.equal(await hashOnlyFile(join(daemon.folder, 'data', 'blobs')), file.sha256, name)
      assert.deepEqual(log.ids, [contentId, end], name)
    }
    for (const { bytes } of links) {
      assert.ok(bytes > file.size && bytes < file.size + file.size / 100, `${bytes} bytes`)
    }
  })
})
