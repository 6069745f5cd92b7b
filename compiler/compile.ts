import { printSchema } from 'graphql'
import { additions, commentKeys } from './additions/table.ts'
import type { Diagnostic, Manifest, ReportFacts } from '../runtime/contract/manifest.ts'
import type { LiveRelation } from '../runtime/contract/live.ts'
import type { Revision } from '../runtime/contract/artifact.ts'
import { buildView } from './additions/engine.ts'
import { createMemo, type Memo } from '../runtime/lib/memo/memo.ts'
import { once } from '../runtime/lib/caches.ts'
import { atOnce, inTurns, type Steps } from '../runtime/lib/steps.ts'
import type { CatalogQuery, ReadOptions } from './catalog/read.ts'
import type { Catalog } from './catalog/catalog.ts'
import type { Annotated } from './comments/annotated.ts'
import { artifactsAsPrinted, type Artifacts } from './emit/artifacts.ts'
import { createEmitter } from './emit/emit.ts'
import { createDatabaseReader, type LiveTriggers } from './emit/live/database.ts'
import { buildModel } from './model/build.ts'
import type { Model } from './model/model.ts'
import { createStopwatch, type Timing } from '../runtime/lib/timers.ts'

/** The results of one compile, stage by stage. */
export interface Compiled {
  readonly catalog: Catalog
  readonly annotated: Annotated
  readonly model: Model
  readonly revision: Revision
  /** Files to write; made on demand, because serving writes none. */
  readonly artifacts: (printing?: Printing) => Promise<Artifacts>
  /** Computed on demand. */
  readonly diagnostics: readonly Diagnostic[]
  /** The same, yielding in between. */
  readonly diagnose: () => Promise<readonly Diagnostic[]>
  /** On all served schemas, whatever their comments request (spec/graphql.md 17, `schemaReport`); computed on demand. */
  readonly report: () => Promise<ReportFacts>
  /** Tables that could be watched if they had triggers. */
  readonly unwatched: readonly LiveRelation[]
  readonly timings: readonly Timing[]
}

/** Options for the files for people and their tools. */
export interface Printing {
  /** Of the compiler. */
  readonly version: string
  /** The folder with previously printed files; null: all are printed. */
  readonly before: string | null
}

const allAnew: Printing = { version: '', before: null }

export interface CompilerOptions extends ReadOptions {
  readonly query: CatalogQuery
  /** Memoized results of earlier compiles; absent: the compiler's own memo. */
  readonly memo?: Memo
  /** Absent: no live queries, because there are no triggers. */
  readonly triggers?: LiveTriggers
}

export interface Compiler {
  /**
   * Rejects with the database's error if its catalogue cannot be read.
   * @param last returned if the database still has its version
   */
  readonly compile: (last?: Compiled) => Promise<Compiled>
  /** The catalogue as it is now; the next compile continues with it. Rejects in the same way. */
  readonly readAhead: () => Promise<Catalog>
}

/** A compiler for one database. It memoizes the results of its passes, so that a small change compiles quickly. */
export function createCompiler(options: CompilerOptions): Compiler {
  const { memo = createMemo() } = options
  const [liveSettings] = additions.flatMap((one) => one.liveSettings ?? [])
  const { read, ahead } = createDatabaseReader(options, commentKeys, memo, liveSettings)
  const emit = createEmitter(memo)
  return {
    readAhead: ahead,
    compile: async (last) => {
      const { timed, timings } = createStopwatch()
      const found = await read(timed, last)
      if ('revision' in found) return found
      const { catalog, noted, live } = found
      const { annotated } = noted
      const built = await timed('model', () => inTurns(buildModel(annotated, additions, memo, live?.facts)))
      const emitted = await timed('emit', () => emit(built.model, catalog.version))
      function* allDiagnostics(): Steps<readonly Diagnostic[]> {
        const ofComments = noted.diagnostics
        yield
        return [...ofComments, ...(yield* built.diagnose()), ...emitted.diagnostics]
      }
      const diagnostics = once(() => atOnce(allDiagnostics()))
      return {
        catalog,
        annotated,
        model: built.model,
        revision: emitted.value,
        artifacts: (printing = allAnew) => artifactsOf(built.model, emitted.value, printing),
        get diagnostics() {
          return diagnostics()
        },
        diagnose: () => inTurns(allDiagnostics()),
        report: once(() => inTurns(built.report())),
        unwatched: live?.unwatched ?? [],
        timings: timings(),
      }
    },
  }
}

/** ts-morph is behind this import: half a second and 80 MB, unneeded while serving or with an unchanged print. */
async function artifactsOf(model: Model, revision: Revision, { version, before }: Printing): Promise<Artifacts> {
  const known = before === null ? null : artifactsAsPrinted(before, revision, version)
  if (known !== null) return known
  const { makeArtifacts } = await import('./emit/make-artifacts.ts')
  return makeArtifacts(model, revision, printRoleSchema, version)
}

const printRoleSchema = (manifest: Manifest, role: string): string => printSchema(buildView(manifest, role).complete())
