/** Tells clients apart by their addresses. @module */

/**
 * Returns an IPv4 address itself, and the /64 network of an IPv6 address: one client may have as
 * many addresses in its network as it likes.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = [], tail = []] = address.split('::').map(parseGroups)
  const zeros: number[] = Array(8 - head.length).fill(0)
  const groups = [...head, ...zeros.slice(tail.length), ...tail]
  return groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')
}

function parseGroups(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}
