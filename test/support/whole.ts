import { majors, type Major } from './clusters.ts'

/**
 * `npm test` draws fewer cases of some laws, and asks them of one version of Postgres; with WHOLE=1, as
 * `npm run test:whole` sets it, all are drawn, every version is asked and pictures of pages are kept.
 */
export const isWhole = process.env['WHOLE'] === '1'

/** The size of a law or a catalogue: as it is with WHOLE=1, and as it is without. */
export const sized = (whole: number, part: number): number => (isWhole ? whole : part)

/** Majors for what asks the same of each version; what reads the catalogue of Postgres takes them all. */
export const lawMajors = (): readonly Major[] => (isWhole ? majors() : majors().slice(0, 1))
