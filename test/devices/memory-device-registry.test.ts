import { describeDeviceRegistry } from '../support/device-registry-contract.ts'
import { MemoryDeviceRegistry } from '../support/memory-device-registry.ts'

describeDeviceRegistry('MemoryDeviceRegistry', async () => new MemoryDeviceRegistry())
