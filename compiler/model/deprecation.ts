import type { Deprecable, EntityFacts, EnumFacts, FunctionFacts } from '../../runtime/contract/manifest.ts'

/** The deprecation of an object, if its owner gives a reason. */
export const deprecation = (reason: string | null | undefined): Deprecable =>
  reason === null || reason === undefined ? {} : { deprecated: reason }

const isSo = ({ deprecated }: Deprecable): boolean => deprecated !== undefined

/** Whether any part of a relation, a function, an enum is deprecated; memoized for each. */
export const marksRelation = (entity: EntityFacts): boolean =>
  isSo(entity) || entity.columns.some(isSo) || entity.computed.some(isSo)
export const marksFunction: (fn: FunctionFacts) => boolean = isSo
export const marksEnum = ({ values }: EnumFacts): boolean => values.some(isSo)
