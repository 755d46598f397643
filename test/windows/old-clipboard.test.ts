import { onlyAtNight } from '../support/night.ts'
import { runSuites } from './support/suites.ts'

// By day the same tests run on the other version, and the daemon on both.
runSuites('20', ['desktop/windows'], onlyAtNight())
