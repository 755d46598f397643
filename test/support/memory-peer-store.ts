/** The joined daemons in memory. @module */

import type { PeerRecord, PeerStore } from '../../src/ports/peers.ts'

export class MemoryPeerStore implements PeerStore {
  records: readonly PeerRecord[] = []

  async save(records: readonly PeerRecord[]): Promise<void> {
    this.records = records
  }
}
