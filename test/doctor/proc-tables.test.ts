import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseDefaultRoutes } from '../../src/doctor/default-route.ts'
import { parseSocketTable } from '../../src/doctor/port-owner.ts'
import fc from '../support/property.ts'

// As Linux 6.1 printed them.
const TCP = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:A6E0 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 61204 1 0000000000000000 100 0 0 10 0
   1: 0100007F:A6E0 0100007F:C3F2 01 00000000:00000000 00:00000000 00000000     0        0 61300 1 0000000000000000 20 4 30 10 -1
`

const TCP6 = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000000000000:A6E1 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 61205 1 0000000000000000 100 0 0 10 0
`

const ROUTE = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
wlan0	00000000	0101A8C0	0003	0	0	600	00000000	0	0	0
eth0	00000000	0101A8C0	0003	0	0	100	00000000	0	0	0
eth0	0001A8C0	00000000	0001	0	0	100	00FFFFFF	0	0	0
`

const HALVES = `tun0	00000000	0100080A	0003	0	0	0	00000080	0	0	0
tun0	00000080	0100080A	0003	0	0	0	00000080	0	0	0
`

describe('/proc/net/tcp', () => {
  it('has the listening sockets of both families, and no connections', () => {
    assert.deepEqual(parseSocketTable(TCP), [{ port: 42_720, inode: '61204' }])
    assert.deepEqual(parseSocketTable(TCP6), [{ port: 42_721, inode: '61205' }])
  })

  it('can be anything', () => {
    fc.assert(fc.property(fc.string(), (text) => parseSocketTable(text).length >= 0))
    const line = fc.array(fc.constantFrom('0:', '0A', '01', '0100007F:A6E0', ':', '1', '\n'))
    fc.assert(
      fc.property(line, (words) => {
        for (const { port, inode } of parseSocketTable(words.join(' '))) {
          assert.ok(port >= 0 && port <= 0xffff, `port ${port}`)
          assert.match(inode, /^\d+$/)
        }
      }),
    )
  })
})

describe('/proc/net/route', () => {
  it('has the default routes, those of VPNs in front', () => {
    assert.deepEqual(parseDefaultRoutes(ROUTE), [
      { name: 'wlan0', metric: 600 },
      { name: 'eth0', metric: 100 },
    ])
    assert.deepEqual(parseDefaultRoutes(HALVES), [{ name: 'tun0', metric: -1 }])
  })

  it('can be anything', () => {
    const words = fc.array(fc.constantFrom('eth0', '00000000', '00000080', '0', '-1', 'x', '\n'))
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          words.map((list) => list.join('\t')),
        ),
        (text) => {
          for (const { metric } of parseDefaultRoutes(text)) {
            assert.ok(Number.isSafeInteger(metric) || metric > 0, `metric ${metric}`)
          }
        },
      ),
    )
  })
})
