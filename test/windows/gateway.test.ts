import { runSuites } from './support/suites.ts'

runSuites('22', ['gateway', 'cli'])
