import { onlyAtNight } from '../support/night.ts'
import { runSuites } from './support/suites.ts'

// By day the tests of the gateway run there, which go through all of it.
runSuites('20', ['http'], onlyAtNight())
