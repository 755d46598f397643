/** The joined daemons in memory. @module */

import type { JoinedPeer, PeerStore } from '../../src/ports/peers.ts'

export class MemoryPeerStore implements PeerStore {
  peers: readonly JoinedPeer[] = []

  async save(peers: readonly JoinedPeer[]): Promise<void> {
    this.peers = peers
  }
}
