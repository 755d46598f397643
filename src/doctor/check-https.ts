/**
 * Whether phones can take the certificate of the gateway, where there is HTTPS: its names, its
 * dates, and who vouches for it. A phone has a clock and a list of authorities of its own, which
 * cannot be seen from here.
 * @module
 */

import { isIP } from 'node:net'
import { join } from 'node:path'
import { listAddresses, listSecureAddresses, loopbackUrl } from '../daemon/addresses.ts'
import { isLoopbackHost } from '../daemon/host-port.ts'
import type { Settings } from '../daemon/settings.ts'
import { countOf } from '../lib/count-of.ts'
import { messageOf } from '../lib/describe-failure.ts'
import type { TlsStatus } from '../ports/admin.ts'
import { DiskPrivateFile } from '../storage/home/own-files.ts'
import { createIdentity, type Identity } from '../tls/identity.ts'
import { identityFiles } from '../tls/identity-files.ts'
import { AUTHORITY_FILE, readAuthority, whyNotNow } from '../tls/local-identity.ts'
import { secureAddresses, wantsTls } from './check-network.ts'
import { fine, hint, problem, type Verdict } from './finding.ts'
import type { Situation } from './situation.ts'
import { DAY_MS, shakeHands, SOON_DAYS } from './through/reach.ts'
import { hostOf, PATIENCE } from './through/visit.ts'

const STOPS = 'mend that before a start'

const RENEW = 'renew it where it came from; the daemon reads the new one by itself'

const AGAIN = 'start the daemon again; if that does not help, please report it'

const SET_CLOCK = 'set the clock: sudo timedatectl set-ntp true, or get another one'

/** Looks at the certificate that is served, or at the one that a start would serve. */
export async function checkHttps(situation: Situation): Promise<Verdict> {
  const { daemon, settings } = situation
  const tls = daemon?.status.tls
  if (tls !== undefined) return worstOf(await judgeServed(situation, tls))
  if (!wantsTls(settings)) return judgePlain(settings)
  if (daemon !== undefined) {
    return hint('the daemon that runs has none, and these settings ask for it', 'start it again')
  }
  try {
    return await judgeStart(situation)
  } catch (error) {
    return problem(messageOf(error), STOPS)
  }
}

function judgePlain({ publicUrl }: Settings): Verdict {
  if (publicUrl?.startsWith('https:') === true) {
    return fine(`none of its own; what is in front at ${publicUrl} has it`)
  }
  const strict = 'browsers that always use secure connections (a setting) block the page'
  return fine(`off; ${strict} (ERR_BLOCKED_BY_CLIENT), and need --tls local`)
}

/** The first problem, else the first hint, else the last that is fine. */
function worstOf(verdicts: readonly Verdict[]): Verdict {
  const [first = fine('')] = [
    ...verdicts.filter(({ ok }) => !ok),
    ...verdicts.filter(({ fix }) => fix !== undefined),
    ...verdicts.slice(-1),
  ]
  return first
}

/** @throws {Error} that says what would stop a start. */
async function judgeStart(situation: Situation): Promise<Verdict> {
  const { settings, machine } = situation
  const { tls, tlsCert, tlsKey } = settings
  if (tls === 'local') {
    const authority = await openAuthority(situation)
    if (authority === undefined) return fine('the first start makes an authority')
    return worstOf([...judgeDates(authority, machine.now(), AGAIN), fine(describeEnd(authority))])
  }
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new Error('--tls-cert and --tls-key belong together')
  }
  const identity = await identityFiles(tlsCert, tlsKey).load()
  const bound = secureAddresses(situation)
  const urls = listSecureAddresses(bound, machine.interfaces(), identity.names)
  return worstOf([
    ...judgeDates(identity, machine.now(), RENEW),
    ...judgeNames(
      situation,
      'files',
      urls.map(({ url }) => url),
    ),
    fine(describeEnd(identity)),
  ])
}

/** The authority of the data directory, and its certificate as PEM. */
async function openAuthority({
  settings,
  machine,
}: Situation): Promise<(Identity & { readonly cert: string }) | undefined> {
  const path = join(settings.dataDir, AUTHORITY_FILE)
  const pair = await readAuthority({ file: new DiskPrivateFile(path), path })
  const trouble = pair && whyNotNow(pair.cert, { path, clock: machine })
  if (trouble !== undefined) throw new Error(trouble)
  return pair && { ...createIdentity(pair), cert: pair.cert }
}

async function judgeServed(situation: Situation, tls: TlsStatus): Promise<readonly Verdict[]> {
  const { machine, settings } = situation
  const { source, urls, error } = tls
  const [notBefore, notAfter] = [Date.parse(tls.notBefore), Date.parse(tls.notAfter)]
  const fix = source === 'local' ? AGAIN : RENEW
  const seen = [
    ...(error === undefined
      ? []
      : [
          problem(`a newer certificate is not used: ${error}`, 'mend that; the daemon looks again'),
        ]),
    ...judgeDates({ notBefore, notAfter }, machine.now(), fix),
    ...judgeNames(situation, source, urls),
  ]
  if (seen.some(({ ok }) => !ok)) return seen
  seen.push(...(await judgeChain(situation, tls)))
  const { publicUrl } = settings
  if (publicUrl?.startsWith('https:') === true) {
    const detail = `links name ${publicUrl}; what is in front there has a certificate of its own`
    seen.push(hint(detail, `look at that one: clipgate doctor --through ${publicUrl}`))
  }
  const strict = 'strict browsers open these, and not the plain address'
  return [...seen, fine(`${urls.join(', ')}; ${describeEnd({ notAfter })}; ${strict}`)]
}

type Dates = Pick<Identity, 'notBefore' | 'notAfter'>

function judgeDates(dates: Dates, now: number, fix: string): readonly Verdict[] {
  const [from, until] = [dates.notBefore, dates.notAfter].map(dayOf)
  const today = `the clock of this machine says ${dayOf(now)}`
  if (now < dates.notBefore) {
    return [problem(`the certificate is not valid before ${from}; ${today}`, SET_CLOCK)]
  }
  if (now > dates.notAfter) return [problem(`the certificate ended on ${until}; ${today}`, fix)]
  const days = Math.floor((dates.notAfter - now) / DAY_MS)
  if (days >= SOON_DAYS) return []
  return [hint(`the certificate ends in ${countOf(days, 'day')}, and nobody has renewed it`, fix)]
}

function judgeNames(situation: Situation, source: TlsStatus['source'], urls: readonly string[]) {
  const bound = secureAddresses(situation)
  const here = listAddresses(bound, situation.machine.interfaces(), undefined)
  const others = here.filter(({ url, kind }) => kind !== 'loopback' && !urls.includes(url))
  const hosts = others.map(({ url }) => hostOf(new URL(url))).join(', ')
  if (source === 'local') {
    if (urls.length === 0) {
      const fix = 'connect this machine to a network, and listen there: --listen'
      return [hint('this machine alone can use it: it has no address for phones', fix)]
    }
    const fix = 'wait ten seconds; if it stays so, start the daemon again'
    return hosts === '' ? [] : [hint(`the certificate is not for ${hosts} yet`, fix)]
  }
  if (urls.length === 0) {
    const fix = 'get one for a name that leads here, or have one made: --tls local'
    return [problem('the certificate is for no name or address of this machine', fix)]
  }
  const isNamed = urls.some((url) => isIP(hostOf(new URL(url))) === 0)
  if (isNamed || hosts === '') return []
  return [hint(`the certificate is not for ${hosts}`, 'get one for a name, which stays')]
}

/** Makes a handshake at each URL, as a phone would that trusts what it should. */
async function judgeChain(situation: Situation, tls: TlsStatus): Promise<readonly Verdict[]> {
  const { machine } = situation
  const isOwn = tls.source === 'local'
  const authority = isOwn ? await openAuthority(situation) : undefined
  if (isOwn && authority === undefined) {
    const fix = 'put it back from a backup; else a start makes another one, for phones to trust'
    return [problem(`${AUTHORITY_FILE} is gone from the data directory`, fix)]
  }
  const seen: Verdict[] = []
  const ca = authority?.cert
  for (const url of tls.urls) {
    const base = new URL(url)
    const found = await findHere(situation, base)
    if (typeof found !== 'string') {
      seen.push(found)
      continue
    }
    const signal = new AbortController().signal
    const visit = { base, machine, login: undefined, patience: PATIENCE, signal, ca }
    const shaken = await shakeHands(visit, found)
    if (typeof shaken === 'string') {
      seen.push(problem(`no TLS at ${url}: the handshake ${shaken}`, AGAIN))
    } else if (shaken.flaw !== undefined) {
      seen.push(judgeFlaw(tls, url, shaken.flaw))
    }
  }
  return seen
}

function judgeFlaw({ source }: TlsStatus, url: string, flaw: string): Verdict {
  if (source === 'local') {
    return problem(`${url} is refused by who trusts ${AUTHORITY_FILE} (${flaw})`, AGAIN)
  }
  const fix =
    'give --tls-cert the whole chain (fullchain.pem); an authority of your own has to be told to ' +
    'each phone'
  return hint(`this machine does not trust the certificate of ${url} (${flaw})`, fix)
}

/** The address of this machine to which a URL leads, or why it leads to none. */
async function findHere(situation: Situation, base: URL): Promise<string | Verdict> {
  const { machine } = situation
  const host = hostOf(base)
  if (isIP(host) !== 0) return host
  const found = await machine.resolve(host)
  const own = Object.values(machine.interfaces()).flatMap((all = []) =>
    all.map(({ address }) => address),
  )
  const [first] = found
  if (first === undefined) {
    const fix = 'phones may know it all the same; else: clipgate pair --url with an address'
    return hint(`the name ${host} is not known here`, fix)
  }
  const elsewhere = found.find((address) => !own.includes(address) && !isLoopbackHost(address))
  if (elsewhere !== undefined) {
    const detail = `${host} leads to ${elsewhere}, not to this machine: what is there has to pass TLS on`
    return hint(detail, `see whether it does: clipgate doctor --through ${base.origin}`)
  }
  // The name may lead to loopback here, where the gateway need not listen.
  return hostOf(new URL(loopbackUrl(secureAddresses(situation))))
}

function describeEnd({ notAfter }: Pick<Dates, 'notAfter'>): string {
  return `good until ${dayOf(notAfter)}`
}

function dayOf(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 10)
}
