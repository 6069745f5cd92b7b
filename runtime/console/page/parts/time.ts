/** A time as people here write it; empty where there is none. */
export const timeOf = (time: string | null | undefined): string =>
  time === null || time === undefined ? '' : new Date(time).toLocaleString()
