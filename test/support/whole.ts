import { majors, type Major } from './clusters.ts'

/**
 * `npm test` asks what is alike on each version of Postgres of one, and has smaller catalogues; with WHOLE=1, as
 * `npm run test:whole` sets it, every version is asked, catalogues are large and pictures of pages are kept.
 */
export const isWhole = process.env['WHOLE'] === '1'

/** The size of a catalogue: as it is with WHOLE=1, and as it is without. */
export const sized = (whole: number, part: number): number => (isWhole ? whole : part)

/** Majors for what asks the same of each version; what reads the catalogue of Postgres takes them all. */
export const lawMajors = (): readonly Major[] => (isWhole ? majors() : majors().slice(0, 1))
