import { onlyAtNight } from '../support/night.ts'
import { runSuites } from './support/suites.ts'
import { needsWine } from './support/wine.ts'

// By day `life.test.ts` and `daemon.test.ts` serve and run each command there.
runSuites('22', ['gateway', 'cli'], onlyAtNight(needsWine))
