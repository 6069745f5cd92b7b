import type { ObjectId } from '../../runtime/contract/manifest.ts'
import { objectId } from '../../runtime/contract/object-id.ts'
import type { AnnotatedFunction } from '../comments/types.ts'
import { additionsOfFunction } from './scalars.ts'
import type { ModelScope } from './scope.ts'

/** With `functionShapes` (spec/graphql.md 17) an overload is served under the name that its own comment gives it. */
export const isToldApart = (scope: ModelScope, fn: AnnotatedFunction): boolean =>
  additionsOfFunction(scope, fn).functionShapes && fn.settings.name !== null

/** What tells a function from all others. */
export type FunctionIdentity = Pick<AnnotatedFunction, 'schema' | 'name' | 'args'>

/** Identity of a function; that of an overload names its argument types, too. */
export const functionId = ({ schema, name, args }: FunctionIdentity, overloaded: boolean): ObjectId =>
  overloaded ? JSON.stringify([schema, name, args.map(({ typeText }) => typeText).join(', ')]) : objectId(schema, name)
