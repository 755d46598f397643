import { before, describe, it, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LatestStamped } from '../../src/client/latest.ts'
import { comparePlaces, type Place, type Stamp } from '../../src/core/stamp.ts'
import { placeOf } from '../../src/hashing/place-of.ts'
import { createRandom, type Random } from '../faults/support/random.ts'
import { sha256 } from '../support/hashes.ts'
import { ownerOf } from '../support/owner.ts'
import { byNight, SEED } from '../support/night.ts'
import { readObject } from '../support/phone.ts'
import type { CountingProxy } from './support/counting-proxy.ts'
import { arrives } from './support/daemons.ts'
import { MemberProcess } from './support/member-process.ts'
import { joinByProxy } from './support/topology.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const WALL_CLOCK = fileURLToPath(new URL('../faults/support/wall-clock.js', import.meta.url))

const DAY_MS = 86_400_000
const YEAR_MS: number = 366 * DAY_MS

/** Clocks are wrong by up to two weeks; what is copied elsewhere is believed all the same. */
const MAX_SKEW_DAYS = 14

/** The year 5138. */
const LAST = 100_000_000_000_000
const HIGHEST = 'm_ffffffffffffffff'

const STEPS = 12

/** What one file may be called. */
const NAMES = [
  { type: 'File', extension: 'bin' },
  { type: 'File', extension: 'txt' },
  { type: 'Group', extension: 'zip' },
  { type: 'Image', extension: 'png' },
] as const

interface Member {
  readonly process: MemberProcess
  /** Holds the next jump of its clock, in milliseconds. */
  readonly clockFile: string
  skewDays: number
}

/** What readers see of an item; stamps of the same document may differ. */
type Seen = Pick<LatestStamped, 'type' | 'text' | 'dataName' | 'hash' | 'mediaType'>

interface Push {
  readonly text: string
  readonly isAcknowledged: boolean
  /** Unknown when the member was killed, or had something later at once. */
  readonly place: Place | undefined
}

class CircleModel {
  readonly #t: TestContext
  readonly #random: Random
  /** Nothing that changes the order of things: then the last push wins, and not only the latest stamp. */
  readonly #isCalm: boolean
  readonly #members: Member[] = []
  readonly #links: CountingProxy[] = []
  readonly #pushes: Push[] = []
  readonly #files = [randomBytes(40_000), randomBytes(40_000)]
  readonly #told: string[] = []

  constructor(t: TestContext, seed: number) {
    this.#t = t
    this.#random = createRandom(seed)
    this.#isCalm = this.#random.chance(0.4)
  }

  /** What happened so far, a line each. */
  get story(): string {
    return this.#told.join('\n')
  }

  async run(): Promise<void> {
    await this.#start()
    for (let step = 0; step < STEPS; step += 1) await this.#step()
    for (const link of this.#links) link.mend()
    await Promise.all(this.#members.map(({ process }) => isLinked(process)))
    await this.#converge()
    await this.#pushInTurn()
    for (const { process } of this.#members) {
      assert.doesNotMatch(process.daemon.stderr(), / error /, process.name)
      await process.kill()
    }
  }

  async #start(): Promise<void> {
    const count = 3 + this.#random.below(3)
    // One after the other, as below: a machine that does much else answers commands too late else.
    for (let index = 0; index < count; index += 1) {
      const clockFile = join(await temporaryFolder(this.#t), 'clock')
      const env = { NODE_OPTIONS: `--import ${WALL_CLOCK}`, CLIPGATE_TEST_CLOCK: clockFile }
      const options = { args: ['--headless'], env }
      const process = await MemberProcess.start(this.#t, `member ${index}`, options)
      this.#members.push({ process, clockFile, skewDays: 0 })
    }
    // A tree, so that everybody is reached, and now and then a link that closes a ring.
    const pairs: [number, number][] = []
    for (let index = 1; index < count; index += 1) {
      const other = this.#random.below(index)
      pairs.push(this.#random.chance(0.5) ? [index, other] : [other, index])
    }
    for (let extra = this.#random.below(3); extra > 0; extra -= 1) {
      const [from, to] = [this.#random.below(count), this.#random.below(count)]
      const isThere = pairs.some(([a, b]) => a === from && b === to)
      if (from !== to && !isThere) pairs.push([from, to])
    }
    this.#tell(`${count} members, ${this.#isCalm ? 'calm' : 'rough'}, joined: ${pairs.join(' ')}`)
    for (const [from, to] of pairs) {
      const [member, other] = [this.#members[from]?.process, this.#members[to]?.process]
      this.#links.push(await joinByProxy(this.#t, member, other))
    }
  }

  #step(): Promise<void> {
    const member = this.#random.pick(this.#members)
    const often = [this.#pushText, this.#pushFile, this.#partition]
    const rarely = [this.#kill, this.#killWhilePushing, this.#pushAgain]
    const times = [this.#jump, this.#pushFromFuture, this.#pushTooFarAhead, this.#teach]
    const rough = this.#isCalm ? [] : [...times, this.#pushTwins]
    const steps = [...often, ...often, ...rarely, ...rough]
    return this.#random.pick(steps).call(this, member)
  }

  #pushText(member: Member): Promise<void> {
    return this.#pushTo(member, `text ${this.#pushes.length}`)
  }

  /** What was current before becomes it once more. */
  #pushAgain(member: Member): Promise<void> {
    const texts = this.#pushes.map(({ text }) => text).filter((text) => text.startsWith('text'))
    return this.#pushTo(member, texts.length === 0 ? 'text again' : this.#random.pick(texts))
  }

  async #pushTo({ process }: Member, text: string): Promise<void> {
    this.#tell(`${process.name} gets ${text}`)
    await process.client.pushText(text)
    await this.#note(process, text)
  }

  /** Each file again and again, under other names and types. */
  async #pushFile({ process }: Member): Promise<void> {
    const { type, extension } = this.#random.pick(NAMES)
    const dataName = `file ${this.#pushes.length}.${extension}`
    this.#tell(`${process.name} gets ${dataName}`)
    const bytes = this.#random.pick(this.#files)
    await process.phone.pushFile(type, dataName, bytes)
    await this.#note(process, dataName)
  }

  /** Whatever is current after an answer is what was pushed, or came later. */
  async #note(process: MemberProcess, text: string): Promise<void> {
    const document = await process.client.latest()
    const isOurs = document.text === text
    this.#pushes.push({ text, isAcknowledged: true, place: isOurs ? seenAt(document) : undefined })
    if (isOurs || this.#pushes.some((push) => push.text === document.text)) return
    assert.fail(`${process.name} has "${document.text}" right after "${text}"`)
  }

  async #partition(): Promise<void> {
    const link = this.#random.pick(this.#links)
    const isCut = this.#random.chance(0.6)
    this.#tell(`link ${this.#links.indexOf(link)} is ${isCut ? 'cut' : 'mended'}`)
    if (isCut) link.cut()
    else link.mend()
  }

  async #kill(member: Member): Promise<void> {
    this.#tell(`${member.process.name} is killed, and started`)
    await member.process.kill()
    await this.#startAgain(member)
  }

  /** What was acknowledged is there afterwards; what was not may be. */
  async #killWhilePushing(member: Member): Promise<void> {
    const { process } = member
    const text = `text ${this.#pushes.length}`
    const pushing = process.client.pushText(text).then(
      () => true,
      () => false,
    )
    // Before it arrives, while it is written, or after the answer.
    if (this.#random.chance(0.5)) await Promise.race([pushing, process.phone.fetch('/healthz')])
    await process.kill()
    const isAcknowledged = await pushing
    this.#tell(
      `${process.name} is killed with ${text} (acknowledged: ${isAcknowledged}), and started`,
    )
    this.#pushes.push({ text, isAcknowledged, place: undefined })
    await this.#startAgain(member)
  }

  /** With the clock of the machine. */
  async #startAgain(member: Member): Promise<void> {
    await member.process.start()
    member.skewDays = 0
  }

  #jump(member: Member): Promise<void> {
    return this.#setClock(member, this.#random.below(2 * MAX_SKEW_DAYS + 1) - MAX_SKEW_DAYS)
  }

  async #setClock(member: Member, skewDays: number): Promise<void> {
    const { process, clockFile } = member
    this.#tell(`the clock of ${process.name} is ${skewDays} days ahead from now on`)
    await writeFile(clockFile, String((skewDays - member.skewDays) * DAY_MS))
    process.daemon.child.kill('SIGUSR2')
    member.skewDays = skewDays
    for (;;) {
      const response = await process.phone.fetch('/api/time')
      const aheadMs = Date.parse(String(await response.json())) - Date.now()
      if (Math.abs(aheadMs - skewDays * DAY_MS) < DAY_MS / 2) return
    }
  }

  /** A member that lies as far as it is believed. */
  #pushFromFuture({ process }: Member): Promise<void> {
    const at = Date.now() + this.#random.below(9) * YEAR_MS
    return this.#pushAt(process, at)
  }

  /** One that gives two items the same stamp: two texts, or one file that has two names. */
  async #pushTwins({ process }: Member): Promise<void> {
    const at = Date.now() + this.#random.below(9) * YEAR_MS
    const file = this.#random.chance(0.5) ? this.#random.pick(this.#files) : undefined
    await this.#pushAt(process, at, file)
    await this.#pushAt(this.#random.pick(this.#members).process, at, file)
  }

  async #pushAt(process: MemberProcess, at: number, file?: Buffer): Promise<void> {
    const text = `${file === undefined ? 'text' : 'file'} ${this.#pushes.length}`
    this.#tell(`${process.name} gets ${text} with the stamp ${at}`)
    const stamp = { at, member: HIGHEST }
    const response = await this.#pushStamped(process, text, stamp, file)
    assert.equal(response.status, 200)
    const document = await process.client.latest()
    const isCurrent = document.text === text
    const place = isCurrent ? seenAt(document) : undefined
    this.#pushes.push({ text, isAcknowledged: isCurrent, place })
  }

  async #pushTooFarAhead({ process }: Member): Promise<void> {
    const at = this.#random.pick([LAST, LAST - 1, Date.now() + 11 * YEAR_MS, 4_000_000_000_000])
    this.#tell(`${process.name} is sent the stamp ${at}`)
    const response = await this.#pushStamped(process, 'never', { at, member: HIGHEST })
    const { code } = await readObject(response)
    assert.deepEqual([response.status, code], [400, 'STAMP_AHEAD'])
  }

  async #pushStamped(
    { client, phone }: MemberProcess,
    text: string,
    { at, member }: Stamp,
    file?: Buffer,
  ): Promise<Response> {
    const stamped = { text, stampedAt: at, stampedBy: member, hash: sha256(file ?? text) }
    let document: object = { ...stamped, type: 'Text' }
    if (file !== undefined) {
      const named = { dataName: text, mediaType: 'application/octet-stream' }
      await client.upload(new Blob([file]), named)
      document = { ...stamped, ...named, type: 'File', hasData: true }
    }
    return phone.fetch('/Sync.json', { method: 'PUT', body: JSON.stringify(document) })
  }

  /** A member that lies about the time: as far as it is believed, and further. */
  async #teach({ process }: Member): Promise<void> {
    const time = Date.now() + this.#random.below(13) * YEAR_MS
    this.#tell(`${process.name} is told the time ${time}`)
    const headers = { 'X-Clipgate-Time': `${time}` }
    const response = await process.phone.fetch('/Sync.json', { headers })
    assert.equal(response.status, 200)
  }

  /** Everybody has the item that was pushed last: in a rough group, the one with the latest stamp. */
  async #converge(): Promise<void> {
    const acknowledged = this.#pushes.filter(({ isAcknowledged }) => isAcknowledged)
    if (acknowledged.length === 0) return
    const { text: wanted, place } = this.#isCalm ? lastOf(acknowledged) : latestOf(acknowledged)
    const others = this.#pushes.filter((push) => this.#mayWin(push, wanted))
    const accepted = [wanted, ...others.map(({ text }) => text)]
    this.#tell(`all have one of ${accepted.join(', ')}, stamped ${place?.stamp.at}`)
    // Whatever the first one has at last, all have.
    for (;;) {
      const all = await Promise.all(
        this.#members.map(async ({ process }) => {
          return seenOf(await arrives(process, ({ text }) => accepted.includes(text)))
        }),
      )
      const [first] = all
      if (all.every((seen) => JSON.stringify(seen) === JSON.stringify(first))) return
    }
  }

  /** Pushes of which nobody knows whether, or with which stamp, they became current. */
  #mayWin({ text, isAcknowledged, place }: Push, wanted: string): boolean {
    const order = this.#pushes.map((push) => push.text)
    const isLater = order.lastIndexOf(text) > order.lastIndexOf(wanted)
    return this.#isCalm ? !isAcknowledged && isLater : place === undefined
  }

  /** Each push wins everywhere, and stays; whatever came back would be seen before the next one. */
  async #pushInTurn(): Promise<void> {
    const first = `the first one to all`
    this.#tell('each gets a text, which all have then')
    const contentId = await this.#members[0]?.process.client.pushText(first)
    await Promise.all(this.#members.map(({ process }) => process.log.has(String(contentId))))
    await this.#pushAhead(first)
    const pushed: string[] = []
    for (const { process } of this.#members) {
      pushed.push(await process.client.pushText(`at last, ${process.name}`))
      await Promise.all(this.#members.map(({ process: { log } }) => log.has(String(pushed.at(-1)))))
    }
    for (const { process } of this.#members) {
      const { ids } = process.log
      const after = ids.slice(ids.lastIndexOf(String(contentId)) + 1)
      // It may have the later stamp.
      if (after[0] === 'resync') after.shift()
      assert.deepEqual(after, pushed, process.name)
    }
  }

  /** All have it, and the clock of one steps ahead, where it becomes current once more. */
  async #pushAhead(text: string): Promise<void> {
    const member = this.#random.pick(this.#members)
    await this.#setClock(member, member.skewDays + 1)
    await member.process.client.pushText(text)
    const wanted = JSON.stringify(await member.process.stamp())
    this.#tell(`${member.process.name} has it again, and all have its stamp then: ${wanted}`)
    for (const { process } of this.#members) {
      while (JSON.stringify(await process.stamp()) !== wanted);
    }
  }

  #tell(what: string): void {
    this.#told.push(what)
  }
}

/** Those who have the same item by chance may still be apart. */
async function isLinked({ daemon }: MemberProcess): Promise<void> {
  for (;;) {
    const peers = await (await ownerOf(daemon)).peers()
    if (peers.every(({ state }) => state === 'connected')) return
  }
}

function seenOf({ type, text, dataName, hash, mediaType }: LatestStamped): Seen {
  return { type, text, dataName, hash, mediaType }
}

function seenAt(document: LatestStamped): Place {
  return placeOf(document, document.hash, () => true)
}

function lastOf(pushes: readonly Push[]): Push {
  const last = pushes.at(-1)
  assert.ok(last !== undefined, 'there is one')
  return last
}

function latestOf(pushes: readonly Push[]): Push {
  return pushes.reduce((latest, push) => {
    return comparePlaces(push.place, latest.place) > 0 ? push : latest
  })
}

/** One run again: `make night RUNS=1 SEED=n TESTS=test/peers/model.test.ts`. */
const runs = Number(process.env['MODEL_RUNS'] ?? byNight(200, { byDay: 1 }))

/** By seed. */
const underWay = new Map<number, CircleModel>()

before(() => {
  // A run that waits for what never comes is ended from outside, and says where it is.
  process.once('SIGTERM', () => {
    for (const [seed, model] of underWay) console.log(`SEED=${seed} hangs\n${model.story}`)
    process.exit(1)
  })
})

describe('a group to which anything happens', { concurrency: 2 }, () => {
  for (let seed = SEED; seed < SEED + runs; seed += 1) {
    it(`has one item, and lost none that was acknowledged (SEED=${seed})`, async (t) => {
      const model = new CircleModel(t, seed)
      underWay.set(seed, model)
      await model.run().catch((error: unknown) => {
        throw new Error(`SEED=${seed}\n${model.story}`, { cause: error })
      })
      underWay.delete(seed)
    })
  }
})
