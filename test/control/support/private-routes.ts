/**
 * All that the control listener does for its owner, as requests; on none of them anything happens
 * without a token.
 * @module
 */

const DEVICE = '{"kind":"phone","label":"L","username":"my_phone"}'

/** Method, path and body. */
export const PRIVATE = [
  ['GET', '/status', ''],
  ['GET', '/devices', ''],
  ['POST', '/devices', DEVICE],
  ['POST', '/devices/nobody/rotate', '{}'],
  ['DELETE', '/devices/nobody', ''],
  ['GET', '/log', ''],
  ['GET', '/peers', ''],
  ['POST', '/peers', '{"link":"clip://nowhere"}'],
  ['DELETE', '/peers/nobody', ''],
  ['GET', '/state', ''],
  ['GET', '/events', ''],
  ['GET', '/item/preview', ''],
  ['GET', '/item/text', ''],
  ['GET', '/recent/nobody', ''],
  ['GET', '/recent/nobody/text', ''],
  ['POST', '/recent', '{"word":"x"}'],
  ['POST', '/recent/nobody', ''],
  ['DELETE', '/recent/nobody', ''],
  ['DELETE', '/recent', ''],
  ['POST', '/received/open', ''],
  ['POST', '/pause', '{}'],
  ['DELETE', '/pause', ''],
  ['POST', '/stop', ''],
  ['GET', '/panel', ''],
  ['DELETE', '/panel', ''],
  ['GET', '/none', ''],
] as const
