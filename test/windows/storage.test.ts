import { runSuites } from './support/suites.ts'

runSuites('20', ['storage'])
