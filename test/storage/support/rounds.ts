/**
 * Rounds of uploads that a program plays until it is killed, and what must be there afterwards.
 *
 * In round `n` an upload is staged under one of a few names. Every second round it becomes the
 * item, every fourth a Text follows. Size and content follow from `n`.
 * @module
 */

import type { Storage } from '../../../src/storage/open-storage.ts'
import { readBlob, streamOf } from '../../support/byte-streams.ts'
import { sha256 } from '../../support/hashes.ts'
import { fileItem, textItem } from '../../support/latest-item-contract.ts'
import { header, stageUpload } from '../../support/staging-contract.ts'

const NAMES = 5

/** Small ones, and some that take several writes. */
const SIZES = [10, 5000, 300_000, 2_500_000]

function nameOf(round: number): string {
  return `${round % NAMES}.bin`
}

function contentOf(round: number): Buffer {
  return Buffer.alloc(SIZES[round % SIZES.length] ?? 0, `${round},`)
}

const isPut = (round: number): boolean => round % 2 === 1
const isText = (round: number): boolean => round % 4 === 3

export async function playRound(
  { staging, latest }: Pick<Storage, 'staging' | 'latest'>,
  round: number,
): Promise<void> {
  const content = contentOf(round)
  const chunks = Array.from({ length: Math.ceil(content.length / 65_536) }, (_, index) =>
    content.subarray(index * 65_536, (index + 1) * 65_536),
  )
  await stageUpload(staging, header(nameOf(round)), streamOf(...chunks))
  if (!isPut(round)) return
  const taken = staging.take('did_a', nameOf(round))
  if (taken === undefined) throw new Error('what was just staged is not there')
  await latest.put(await fileItem(nameOf(round), taken.blob), taken.blob)
  await taken.release()
  if (isText(round)) await latest.put(await textItem(String(round)), undefined)
}

/** What a program leaves that died after `last`, perhaps in the middle of the next round. */
export interface Expectation {
  /** Rounds whose upload waits under a name; `undefined` when none does. */
  readonly staged: ReadonlyMap<string, readonly (number | undefined)[]>
  readonly binary: readonly (number | undefined)[]
  /** The numbers of the Text that is current. */
  readonly text: readonly (number | undefined)[]
}

export function expectAfter(last: number): Expectation {
  const played = Array.from({ length: last + 1 }, (_, round) => round)
  const next = last + 1
  const lastPut = played.findLast(isPut)
  const lastText = lastPut !== undefined && isText(lastPut) ? lastPut : undefined
  const staged = new Map(
    Array.from({ length: NAMES }, (_, index) => {
      const round = played.findLast((candidate) => candidate % NAMES === index)
      const waits = round === undefined || isPut(round) ? undefined : round
      const mayFollow = next % NAMES === index ? [next, undefined] : []
      return [`${index}.bin`, [waits, ...mayFollow]]
    }),
  )
  return {
    staged,
    binary: isPut(next) ? [lastPut, next] : [lastPut],
    text: isPut(next) ? [lastText, undefined, next] : [lastText],
  }
}

/** By the SHA-256 of their content. */
const roundsOf = new Map<string, number>()

/** What is really there: rounds again, found by content; throws at anything torn. */
export async function findRounds(
  { staging, latest }: Pick<Storage, 'staging' | 'latest'>,
  last: number,
): Promise<{
  readonly staged: ReadonlyMap<string, number | undefined>
  readonly binary: number | undefined
  readonly text: number | undefined
}> {
  for (let round = roundsOf.size; round <= last + 1; round++) {
    roundsOf.set(sha256(contentOf(round)), round)
  }
  const roundOf = (content: Buffer, told: string): number => {
    const round = roundsOf.get(sha256(content))
    if (round === undefined || told !== sha256(content)) throw new Error('bytes are torn')
    return round
  }
  const staged = new Map<string, number | undefined>()
  for (let index = 0; index < NAMES; index++) {
    const taken = staging.take('did_a', `${index}.bin`)
    const content = taken && (await readBlob(taken.blob))
    staged.set(`${index}.bin`, content && roundOf(content, taken.blob.digests.sha256))
    taken?.giveBack()
  }
  const { binary, current } = latest
  const content = binary?.blob && (await readBlob(binary.blob))
  return {
    staged,
    binary: content && binary && roundOf(content, binary.item.contentHash),
    text: current?.item.type === 'Text' ? Number(current.item.text) : undefined,
  }
}
