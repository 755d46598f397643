/**
 * The worker that takes what other apps share with the page. It has no credentials: the page sends
 * what is kept here, when a person says so.
 * @module
 */

type FetchEvent = Event & { request: Request; respondWith(reply: Promise<Response>): void }

const KEPT = 'clipgate-shared'

self.addEventListener('fetch', (event) => {
  const fetching = event as FetchEvent
  const { method, url } = fetching.request
  if (method === 'POST' && url.endsWith('/phone/share'))
    fetching.respondWith(keep(fetching.request))
})

async function keep(request: Request) {
  const form = await request.formData()
  await caches.delete(KEPT)
  const cache = await caches.open(KEPT)
  const words = ['title', 'text', 'url'].map((name) => form.get(name)).filter(Boolean)
  if (words.length > 0) await cache.put('kept/text', new Response(words.join('\n')))
  for (const [index, file] of form.getAll('files').entries()) {
    if (!(file instanceof File)) continue
    const headers = { 'Content-Type': file.type || 'application/octet-stream' }
    const place = `kept/${index}?name=${encodeURIComponent(file.name)}`
    await cache.put(place, new Response(file, { headers }))
  }
  return Response.redirect('../phone', 303)
}
