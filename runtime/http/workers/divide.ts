import type { Settings } from '../../settings/keys.ts'

/** What belongs to the project, as one of several equal workers has it. At least one of everything. */
const shareOf = (whole: number, workers: number): number => Math.max(1, Math.floor(whole / workers))

/** The settings of one worker: what counts for the project as a whole is divided by the number of workers. */
export const settingsOfWorker = <S extends Settings>(settings: S): S => ({
  ...settings,
  poolSize: shareOf(settings.poolSize, settings.workers),
  authPoolSize: shareOf(settings.authPoolSize, settings.workers),
})
