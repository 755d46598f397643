/**
 * Makes this daemon a member of its circle on a bus: key, credential, membership, broker.
 *
 * Loaded only where a bus is wanted.
 * @module
 */

import { DomainError } from '../../core/domain-error.ts'
import type { DeviceRegistry } from '../../ports/device-registry.ts'
import type { PrivateFile } from '../../ports/private-file.ts'
import {
  deriveSecrets,
  CIRCLE_KEY_FILE,
  isCircleUsername,
  parseCircleKey,
  type CircleSecrets,
} from './circle-key.ts'
import { CircleMember, type CircleMemberDeps } from './circle-member.ts'
import { MEMBERSHIP_FILE, Membership } from './membership.ts'
import { loadNats, NatsBus, type NatsBusOptions } from './nats-bus.ts'
import { pullOffer, type PullOfferDeps } from './pull-offer.ts'
import { Sealer } from './sealer.ts'

export { CIRCLE_KEY_FILE, MEMBERSHIP_FILE }

/** The ports and settings of a bus. */
export interface CircleBusOptions
  extends Pick<CircleMemberDeps, 'changes' | 'circleTime' | 'logger' | 'url'>,
    Pick<PullOfferDeps, 'latest' | 'inbound' | 'blobs' | 'maxFileBytes'>,
    Omit<NatsBusOptions, 'subject'> {
  readonly keyFile: PrivateFile
  readonly membershipFile: PrivateFile
  readonly devices: DeviceRegistry
  /** Unix milliseconds. */
  readonly now: number
}

/**
 * Resolves before there is a connection: a broker that is away does not matter.
 *
 * @throws {DomainError} `PACKAGE_MISSING`, `GROUP_KEY_INVALID`, `BUS_UNUSABLE`, and as the registry
 *   and the private files.
 */
export async function openCircleBus(options: CircleBusOptions): Promise<CircleMember> {
  const client = loadNats()
  const secrets = deriveSecrets(await readKey(options.keyFile))
  const bus = new NatsBus(client, { ...options, subject: secrets.subject })
  await bus.check()
  const membership = await Membership.open(options.membershipFile, secrets.id, options.now)
  await admitCircle(options.devices, secrets)
  const member = new CircleMember({
    ...options,
    bus,
    brokers: options.servers,
    secrets,
    sealer: new Sealer(secrets),
    membership,
    pull: (offer, more) => pullOffer(offer, { ...options, ...more, ownUrl: options.url, secrets }),
  })
  member.start()
  return member
}

async function readKey(file: PrivateFile): Promise<Uint8Array> {
  try {
    const text = await file.read()
    if (text !== undefined) return parseCircleKey(text)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const remedy = 'copy it again from another member'
    const message = `Cannot use ${CIRCLE_KEY_FILE}: ${error.message}; ${remedy}`
    throw new DomainError('GROUP_KEY_INVALID', message)
  }
  throw new DomainError(
    'GROUP_KEY_INVALID',
    'Cannot use --bus: there is no group key; make one with "clipgate group new", or bring that of ' +
      'the other members with "clipgate group import"',
  )
}

/** Lets the members of this circle in, and those of an earlier one no more. */
async function admitCircle(
  devices: DeviceRegistry,
  { id, username, password }: CircleSecrets,
): Promise<void> {
  for (const device of devices.list()) {
    const isOld = isCircleUsername(device.username) && device.username !== username
    if (device.kind === 'peer' && isOld) await devices.revoke(device.id)
  }
  const known = devices.find(username)
  if (known === undefined) {
    await devices.add({ kind: 'peer', label: `Group ${id}`, username, password })
  } else if (known.passwordHash === undefined) await devices.rotate(known.id, password)
}
