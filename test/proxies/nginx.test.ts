import { describe } from 'node:test'
import { needs } from '../support/requirements.ts'
import { proxySuite } from './proxy-suite.ts'
import { startNginx } from './support/nginx.ts'

const TOOLS = needs('nginx', 'openssl', 'curl')

describe('nginx, as deploy/nginx/clipgate.conf sets it up', TOOLS, () => {
  proxySuite(startNginx)
})
