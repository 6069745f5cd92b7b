import type { LiveRelation } from '../../../runtime/contract/live.ts'
import { compareBytes } from '../../../runtime/lib/text.ts'
import type { Oid } from '../../catalog/catalog.ts'
import type { Memo } from '../../../runtime/lib/memo/memo.ts'
import type { Steps } from '../../../runtime/lib/steps.ts'
import type { Annotated, AnnotatedRelation, AnnotatedSchema } from '../../comments/annotated.ts'
import type { Watched } from '../../model/live.ts'
import { judgeFunction, judgeRelation, type Judge, type LiveVerdict } from './judge.ts'
import { createClosureReader, type ClosureOptions } from './read-relations.ts'

/** The objects that can be watched, and those that could be with triggers. */
export interface LiveAnswer {
  readonly watched: Watched
  /** Tables whose changes must be reported. */
  readonly wanted: readonly LiveRelation[]
  /** Tables that cannot be watched only because their changes are not reported. */
  readonly unwatched: readonly LiveRelation[]
}

export function* isAnyLive(memo: Memo, { schemas, relations }: Annotated): Steps<boolean> {
  return schemas.some(isLive) || (yield* memo.map(isLive, relations)).includes(true)
}

const isLive = ({ settings }: AnnotatedSchema | AnnotatedRelation): boolean => settings.live === true

/**
 * Creates the reader of watchable objects. It rejects as `query` does, and with a TypeError after concurrent changes.
 */
export function createLiveReader(
  options: ClosureOptions,
): (annotated: Annotated, awaited: readonly LiveRelation[]) => Promise<LiveAnswer> {
  const read = createClosureReader(options)
  return async (annotated, awaited) => {
    const { relations, functions } = annotated
    const closure = await read({ relations: relations.map(oidOf), functions: functions.map(oidOf) })
    const distributed = new Set(annotated.distributed?.map(oidOf))
    const judge: Judge = { closure, distributed, awaited, nodes: new Map() }
    const judged = {
      relations: new Map(relations.map(({ oid }) => [oid, judgeRelation(judge, oid)])),
      functions: new Map(functions.map(({ oid }) => [oid, judgeFunction(judge, oid)])),
    }
    const all = [...judged.relations.values(), ...judged.functions.values()]
    const unwatched = new Map(all.flatMap((item) => item.unwatched).map((table) => [table.oid, table]))
    const wanted = new Map(all.flatMap((item) => item.wanted).map((table) => [JSON.stringify(table), table]))
    return {
      watched: { relations: factsByRelation(judged.relations), functions: factsByRelation(judged.functions) },
      wanted: [...wanted].sort(([a], [b]) => compareBytes(a, b)).map(([, table]) => table),
      unwatched: [...unwatched.values()].map(({ schema, name }) => ({ schema, name })),
    }
  }
}

const oidOf = ({ oid }: { readonly oid: Oid }): Oid => oid

const factsByRelation = (judged: ReadonlyMap<Oid, LiveVerdict>): Watched['relations'] =>
  new Map([...judged].map(([oid, { facts }]) => [oid, facts]))
