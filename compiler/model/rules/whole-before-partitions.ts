import type { Link } from '../links.ts'

/**
 * Postgres copies a key that refers to a partitioned table for each of its partitions. A copy whose forward field would
 * have the name of the whole key's gives way: the field leads to the partitioned table (spec/graphql.md 1.2, decision
 * 14).
 */
export const preferWhole = (links: readonly Link[], field: (link: Link) => string): readonly Link[] =>
  links.filter(
    (link) =>
      link.guaranteed ||
      !links.some((other) => other.guaranteed && sameColumns(other, link) && field(other) === field(link)),
  )

const sameColumns = (a: Link, b: Link): boolean =>
  a.columns.length === b.columns.length && a.columns.every((column, index) => column === b.columns[index])
