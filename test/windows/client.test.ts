import { runSuites } from './support/suites.ts'

runSuites('20', ['link', 'client', 'devices'])
