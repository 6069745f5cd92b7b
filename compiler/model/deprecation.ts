import type { Deprecable, EntityFacts, EnumFacts, FunctionFacts } from '../../runtime/contract/manifest.ts'

/** The fact that something is deprecated, where its owner says why. */
export const deprecation = (reason: string | null | undefined): Deprecable =>
  reason === null || reason === undefined ? {} : { deprecated: reason }

const isSo = ({ deprecated }: Deprecable): boolean => deprecated !== undefined

/** Whether anything is marked of a relation, a function, an enum; to be remembered for each. */
export const marksRelation = (entity: EntityFacts): boolean =>
  isSo(entity) || entity.columns.some(isSo) || entity.computed.some(isSo)
export const marksFunction: (fn: FunctionFacts) => boolean = isSo
export const marksEnum = ({ values }: EnumFacts): boolean => values.some(isSo)
