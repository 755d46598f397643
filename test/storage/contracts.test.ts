import { describeBlobStore } from '../support/blob-store-contract.ts'
import { describeLatestItem } from '../support/latest-item-contract.ts'
import { MemoryBlobStore } from '../support/memory-blob-store.ts'
import { describeStagingArea } from '../support/staging-contract.ts'
import { openBlobStore, openTestStorage } from './support/open-stores.ts'

describeBlobStore('MemoryBlobStore', async () => {
  const store = new MemoryBlobStore()
  return { store, count: async () => store.count }
})

describeBlobStore('DiskBlobStore', openBlobStore)

describeLatestItem('DiskLatestItem', openTestStorage)

describeStagingArea('DiskStagingArea', async (t, limits) => {
  const { staging, blobFiles } = await openTestStorage(t, { limits })
  return { staging, count: async () => (await blobFiles()).length }
})
