/**
 * `deploy/compose.yaml`, as an engine would read it.
 * @module
 */

import { parse } from 'yaml'
import { SITE } from '../../proxies/support/certificate.ts'
import { readRecipe } from './recipes.ts'

export interface Service {
  readonly build?: { readonly context: string; readonly dockerfile: string }
  readonly environment: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly networks: Readonly<Record<string, { readonly ipv4_address?: string }>>
  readonly volumes: readonly string[]
  readonly read_only?: boolean
  readonly privileged?: boolean
  readonly network_mode?: string
  readonly cap_drop: readonly string[]
  readonly cap_add?: readonly string[]
  readonly security_opt: readonly string[]
  readonly healthcheck?: { readonly test?: unknown }
  readonly stop_grace_period?: string
}

export interface Compose {
  readonly services: { readonly clipgate: Service; readonly proxy: Service }
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>
  readonly volumes: Readonly<Record<string, { readonly name: string }>>
}

const REQUIRED = /\$\{CLIPGATE_SITE:\?[^}]*\}/g

/** Reads the compose file, whose shape is taken for what it should be. */
export function readCompose(text = readRecipe('compose.yaml')): Compose {
  return parse(text.replace(REQUIRED, SITE))
}

/** What is there for whoever wants nginx: the same file with that in place of Caddy. */
export function composeWithNginx(): Compose {
  const text = readRecipe('compose.yaml')
  const start = text.indexOf('  # nginx in place of Caddy')
  const end = text.indexOf('\nnetworks:')
  const [, commented = ''] = text.slice(start, end).split('  #\n')
  const without = text.slice(0, text.indexOf('  proxy:\n'))
  return readCompose(`${without}${commented.replace(/^ {2}# /gm, '  ')}${text.slice(end)}`)
}
