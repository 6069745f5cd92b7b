import { majors, type Major } from './clusters.ts'

/**
 * The parts that `npm test` leaves to `npm run test:whole` (WHOLE=1), so that it takes few minutes: further cells of a matrix of which it asks
 * one, longer runs of laws, larger catalogues, pictures of pages. It keeps an example of each capability, each fault that was once
 * found, and each rule of security.
 */
export const isWhole = process.env['WHOLE'] === '1'

/** A size or a number of runs: as it is with WHOLE=1, and as it is without. */
export const sized = (whole: number, part: number): number => (isWhole ? whole : part)

/** Why a test is skipped that is left out. */
export const leftToWhole = 'left to npm run test:whole'

/** Majors for what asks the same of each version; what reads the catalogue of Postgres takes them all. */
export const lawMajors = (): readonly Major[] => (isWhole ? majors() : majors().slice(0, 1))
