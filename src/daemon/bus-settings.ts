/**
 * The settings of the bus that a group uses.
 *
 * @module
 */

import { list, PATH, type Setting, type SettingKind } from './setting-kinds.ts'

export interface BusSettings {
  /** Brokers, tried in turn; `undefined`: no bus. */
  readonly bus: readonly string[] | undefined
  /** A `.creds` file of NATS. */
  readonly busCredentials: string | undefined
  /** Certificates that brokers may be signed by, as PEM. */
  readonly busCa: string | undefined
}

const BUS_URL: SettingKind<string> = {
  placeholder: 'URL',
  isList: false,
  decode(raw) {
    const url = typeof raw === 'string' && URL.canParse(raw) ? new URL(raw) : undefined
    const isPlain = url !== undefined && url.username + url.password + url.search + url.hash === ''
    const isPath = url !== undefined && url.pathname !== '' && url.pathname !== '/'
    if (!isPlain || isPath || url.host === '' || !/^(?:nats|tls):$/.test(url.protocol)) {
      // Not quoted: it may hold a password that should not be there.
      throw new TypeError(
        'must be nats://HOST:PORT or tls://HOST:PORT; a password belongs in --bus-credentials',
      )
    }
    return `${url.protocol}//${url.host}`
  },
}

const FILE: SettingKind<string> = { ...PATH, placeholder: 'FILE' }

export const BUS_SETTINGS: { readonly [Name in keyof BusSettings]: Setting<BusSettings[Name]> } = {
  bus: {
    kind: list(BUS_URL, { min: 1 }),
    fallback: () => undefined,
    byDefault: 'none',
    meaning: 'brokers of NATS over which a group tells its members what is new',
  },
  busCredentials: {
    kind: FILE,
    fallback: () => undefined,
    byDefault: 'none',
    meaning: 'credentials file (.creds) for the broker',
  },
  busCa: {
    kind: FILE,
    fallback: () => undefined,
    byDefault: 'the authorities that Node trusts',
    meaning: 'PEM file of what the certificate of the broker may be signed by',
  },
}
