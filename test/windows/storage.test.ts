import { isNight } from '../support/night.ts'
import { runSuites } from './support/suites.ts'

runSuites('20', ['storage', 'devices', ...(isNight ? ['link', 'client', 'http'] : [])])
