/**
 * Makes the page an app of the phone, to which other apps can share, where browsers trust its
 * address: with https.
 * @module
 */

import { base } from './account.ts'
import { h } from '../shared/dom.ts'

/** The name is that in `share.js`. */
const KEPT = 'clipgate-shared'

/** Lets browsers offer to install the page, with a worker that takes what is shared with it. */
export function offerInstall() {
  if (!('serviceWorker' in navigator)) return
  document.head.append(h('link', { rel: 'manifest', href: `${base}/phone/app.webmanifest` }))
  // A browser that keeps no workers, as in a private window, has no share sheet either.
  navigator.serviceWorker.register(`${base}/phone/share.js`).catch(() => {})
}

/** Ends the worker, so that nothing is left of the page. */
export async function withdraw() {
  if (!('serviceWorker' in navigator)) return
  for (const worker of await navigator.serviceWorker.getRegistrations()) {
    // The site of a proxy may have workers of others.
    if (worker.scope.startsWith(`${base}/phone`)) await worker.unregister()
  }
}

/** Takes what was shared with the page, and leaves nothing of it behind. */
export async function takeShared() {
  let text = ''
  const files: File[] = []
  if (!('caches' in window)) return { text, files }
  const cache = await caches.open(KEPT)
  for (const request of await cache.keys()) {
    const blob = await (await cache.match(request))?.blob()
    const name = new URL(request.url).searchParams.get('name')
    if (name === null) text = (await blob?.text()) ?? ''
    else if (blob !== undefined) files.push(new File([blob], name, { type: blob.type }))
  }
  await caches.delete(KEPT)
  return { text, files }
}
