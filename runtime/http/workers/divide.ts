import type { Settings } from '../../settings/keys.ts'

/** A worker's share of a project-wide amount: at least one. */
const shareOf = (whole: number, workers: number): number => Math.max(1, Math.floor(whole / workers))

/** The settings of one worker: project-wide limits are divided by the number of workers. */
export const settingsOfWorker = <S extends Settings>(settings: S): S => ({
  ...settings,
  poolSize: shareOf(settings.poolSize, settings.workers),
  authPoolSize: shareOf(settings.authPoolSize, settings.workers),
})
