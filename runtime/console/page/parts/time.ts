/** A time in the local format; empty without one. */
export const timeOf = (time: string | null | undefined): string =>
  time === null || time === undefined ? '' : new Date(time).toLocaleString()
