import { isNight } from '../support/night.ts'
import { runSuites } from './support/suites.ts'

runSuites('20', [...(isNight ? ['link'] : []), 'client', 'devices'])
