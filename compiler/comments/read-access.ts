import { isDeepStrictEqual } from 'node:util'
import { createLru } from '../../runtime/lib/caches.ts'
import type { Memo } from '../../runtime/lib/memo/memo.ts'
import { inTurns } from '../../runtime/lib/steps.ts'
import type { Diagnostic } from '../../runtime/contract/manifest.ts'
import { diagnose } from '../catalog/diagnostics/diagnostics.ts'
import { nameRelation } from '../catalog/diagnostics/object-name.ts'
import type { Preset } from './column-access.ts'
import type { Noted } from './annotate.ts'
import { expressionProblem, type ParseTree } from './expressions.ts'
import type { Annotated, AnnotatedRelation } from './annotated.ts'

/** A relation with its valid settings, and diagnostics of the others. */
interface Read {
  readonly relation: AnnotatedRelation
  readonly diagnostics: readonly Diagnostic[]
}

const rememberedTexts = 1_000

const saysAny = ({ settings }: AnnotatedRelation): boolean =>
  settings.preset.length + settings.readOnly.length + settings.writeOnly.length > 0

/**
 * Creates the check of `preset` expressions, which needs a parser. An invalid one sets nothing, but its column stays
 * unwritable for clients. An unchanged relation keeps its identity.
 */
export function createAccessReader(parse: ParseTree, memo: Memo): (noted: Noted) => Promise<Noted> {
  const readable = createLru<string, true>(rememberedTexts)
  const known = new WeakMap<AnnotatedRelation, AnnotatedRelation>()
  const problemOf = async (text: string): Promise<string | null> => {
    if (readable.get(text) === true) return null
    const problem = await expressionProblem(parse, text)
    // A failure may be temporary, if the parser gave up.
    if (problem === null) readable.set(text, true)
    return problem
  }
  const readRelation = async (relation: AnnotatedRelation, annotated: Annotated): Promise<Read> => {
    const object = nameRelation(relation)
    const faults: Diagnostic[] = []
    const kept = async (preset: Preset, command: 'insert' | 'update'): Promise<string | null> => {
      const text = preset[command]
      const reason = text === null ? null : await problemOf(text)
      if (reason === null) return text
      faults.push(diagnose('preset-unreadable', object, { ...preset, reason }))
      return null
    }
    const preset: Preset[] = []
    for (const one of relation.settings.preset)
      preset.push({ ...one, insert: await kept(one, 'insert'), update: await kept(one, 'update') })
    const diagnostics = [...faults, ...strangers(relation, annotated)]
    if (faults.length === 0) return { relation, diagnostics }
    const before = known.get(relation)
    if (before !== undefined && isDeepStrictEqual(before.settings.preset, preset))
      return { relation: before, diagnostics }
    const read = { ...relation, settings: { ...relation.settings, preset } }
    known.set(relation, read)
    return { relation: read, diagnostics }
  }
  return async (noted) => {
    const { annotated } = noted
    const says = await inTurns(memo.map(saysAny, annotated.relations))
    if (!says.includes(true)) return noted
    const found: Diagnostic[] = []
    const relations: AnnotatedRelation[] = []
    for (const [place, relation] of annotated.relations.entries()) {
      if (says[place] !== true) {
        relations.push(relation)
        continue
      }
      const read = await readRelation(relation, annotated)
      relations.push(read.relation)
      found.push(...read.diagnostics)
    }
    const diagnostics = [...noted.diagnostics, ...found]
    return { annotated: { ...annotated, relations, diagnostics }, diagnostics }
  }
}

/** Unknown names of roles and columns: such a setting protects nothing. */
function strangers({ settings, columns, ...relation }: AnnotatedRelation, { roles }: Annotated): readonly Diagnostic[] {
  const object = nameRelation(relation)
  const lists = (['readOnly', 'writeOnly'] as const).flatMap((key) =>
    settings[key].flatMap((item) => item.columns.map((column) => ({ key, role: item.role, column }))),
  )
  const presets = settings.preset.map(({ role, column }) => ({ key: 'preset', role, column }))
  return [...lists, ...presets].flatMap(({ key, role, column }) => {
    const found = columns.find(({ name }) => name === column)
    const isFixed = key === 'preset' && (found?.generated === true || found?.identity === true)
    return [
      ...(role === 'public' || roles.some(({ name }) => name === role)
        ? []
        : [diagnose('access-unknown', object, { key, what: `the role ${JSON.stringify(role)}` })]),
      ...(found === undefined || isFixed
        ? [
            diagnose('access-unknown', object, {
              key,
              what: `a column ${JSON.stringify(column)} that it could hold for`,
            }),
          ]
        : []),
    ]
  })
}
