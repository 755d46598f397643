import { describeBlobStore } from '../support/blob-store-contract.ts'
import { describeLatestItem } from '../support/latest-item-contract.ts'
import { MemoryBlobStore } from '../support/memory-blob-store.ts'
import { MemoryLatestItem } from '../support/memory-latest-item.ts'
import { MemoryStagingArea } from '../support/memory-staging-area.ts'
import { describeStagingArea } from '../support/staging-contract.ts'
import { openBlobStore, openTestStorage } from './support/open-stores.ts'

describeBlobStore('MemoryBlobStore', async () => {
  const store = new MemoryBlobStore()
  return { store, count: async () => store.count }
})

describeBlobStore('DiskBlobStore', openBlobStore)

describeLatestItem('MemoryLatestItem', async () => {
  return { latest: new MemoryLatestItem(), blobs: new MemoryBlobStore() }
})

describeLatestItem('DiskLatestItem', openTestStorage)

describeStagingArea('MemoryStagingArea', async (_, { maxFileBytes }) => {
  const blobs = new MemoryBlobStore()
  return { staging: new MemoryStagingArea(blobs, maxFileBytes), count: async () => blobs.count }
})

describeStagingArea('DiskStagingArea', async (t, limits) => {
  const { staging, blobFiles } = await openTestStorage(t, { limits })
  return { staging, count: async () => (await blobFiles()).length }
})
