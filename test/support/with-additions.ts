import { additions, commentKeys } from '../../compiler/additions/table.ts'
import type { Catalog } from '../../compiler/catalog/catalog.ts'
import type { Annotated } from '../../compiler/comments/annotated.ts'
import { annotate as annotateBy, type Noted } from '../../compiler/comments/annotate.ts'
import { buildModel as buildBy, type Built } from '../../compiler/model/build.ts'
import type { Memo } from '../../runtime/lib/memo/memo.ts'
import type { Steps } from '../../runtime/lib/steps.ts'

/** The stages of the compiler with all additions, as createCompiler puts them together. */

export const { keys } = commentKeys

export const annotate = (catalog: Catalog, memo?: Memo): Steps<Noted> => annotateBy(catalog, commentKeys, memo)

export const buildModel = (annotated: Annotated, memo?: Memo): Steps<Built> => buildBy(annotated, additions, memo)
