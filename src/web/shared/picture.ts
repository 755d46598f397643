/** Pictures as pages show them, and as clipboards take them. @module */

import { h } from './dom.ts'

/** Shows a picture, or what takes its place where the browser cannot draw it. */
export function showPicture(picture: Blob, alt: string, instead: Element): HTMLImageElement {
  const src = URL.createObjectURL(picture)
  const image = h('img', { alt, src })
  image.addEventListener('load', () => URL.revokeObjectURL(src))
  image.addEventListener('error', () => {
    URL.revokeObjectURL(src)
    image.replaceWith(instead)
  })
  return image
}

/** A picture as PNG, which is all that browsers put on clipboards. */
export async function toPng(picture: Blob): Promise<Blob> {
  if (picture.type === 'image/png') return picture
  const bitmap = await createImageBitmap(picture)
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0)
  return canvas.convertToBlob()
}
