import type { Socket } from 'node:net'

/**
 * Passes on what either side sends; when one ends, so does the other.
 *
 * @param open Has both for as long as they are open.
 * @param onClosed Called with each when it is closed.
 */
export function joinSockets(
  near: Socket,
  far: Socket,
  open: Set<Socket>,
  onClosed: (socket: Socket) => void = () => {},
): void {
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    open.add(from)
    from.pipe(to)
    // What happens to one of them, the other one is told by the next line.
    from.on('error', () => undefined)
    from.on('close', () => {
      to.destroy()
      open.delete(from)
      onClosed(from)
    })
  }
}
