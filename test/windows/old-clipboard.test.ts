import { onlyAtNight } from '../support/night.ts'
import { runSuites } from './support/suites.ts'
import { needsWine } from './support/wine.ts'

// By day the same tests run on the other version, and the daemon on both.
runSuites('20', ['desktop/windows'], onlyAtNight(needsWine))
