/**
 * Who takes part in a soak.
 * @module
 */

import {
  aborter,
  babbler,
  guesser,
  silent,
  slowReader,
  stalePoller,
  streamer,
} from './bad-actors.ts'
import { downloader, filePusher, formPusher, poller, textPusher, watcher } from './good-actors.ts'
import { owner } from './owner.ts'
import { SoakPhone } from './phone.ts'
import type { Actor, World } from './world.ts'

type MakeActor = (world: World, phone: SoakPhone) => Actor

/** All phones poll; these do something else besides, each on a phone of its own. */
const GOOD: readonly MakeActor[] = [
  textPusher,
  textPusher,
  textPusher,
  filePusher,
  filePusher,
  filePusher,
  formPusher,
  formPusher,
  downloader,
  downloader,
  downloader,
  watcher,
  watcher,
]

const BAD: readonly MakeActor[] = [streamer, streamer, slowReader, slowReader, aborter, aborter]

/** Those who are to be slowed down, and must not slow down others. */
const HOSTILE: readonly MakeActor[] = [guesser, stalePoller, silent, babbler]

export function castOf(world: World): readonly Actor[] {
  const { phones, port } = world
  const [first] = phones
  if (first === undefined) return []
  const played = [...GOOD, ...BAD].map((make, index) => make(world, phones[index] ?? first))
  const pollers = phones.map((phone) => poller(world, phone))
  const hostile = HOSTILE.map((make, index) => {
    return make(world, new SoakPhone(port, first, `127.0.1.${index + 1}`))
  })
  return [...played, ...pollers, ...hostile, owner(world, '127.0.2.1')]
}
