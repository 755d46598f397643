import { describeBlobStore } from '../support/blob-store-contract.ts'
import { describeLatestItem } from '../support/latest-item-contract.ts'
import { describeStagingArea } from '../support/staging-contract.ts'
import { openBlobStore, openTestStorage } from './support/open-stores.ts'

describeBlobStore('DiskBlobStore', openBlobStore)

describeLatestItem('DiskLatestItem', openTestStorage)

describeStagingArea('DiskStagingArea', async (t, limits) => {
  const { staging, blobFiles } = await openTestStorage(t, { limits })
  return { staging, count: async () => (await blobFiles()).length }
})
