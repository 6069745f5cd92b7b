import fc from 'fast-check'
import { expect, test } from 'vitest'
import { drawFrom, choices, type Draw } from '../reference/questions/draw.ts'
import { asSubscription } from '../reference/questions/subscription.ts'
import { drawQuestion, usefulRoles } from '../reference/questions/document.ts'
import type { TableSketch, World } from '../reference/interpreter/world.ts'
import type { Interest } from '../../runtime/contract/live.ts'
import { ident } from '../../runtime/sql/ident.ts'
import { worlds } from '../reference/exact/worlds/world.ts'
import { judge } from '../reference/exact/judge.ts'
import { openStage, type Stage } from '../reference/exact/stage.ts'
import type { TestService } from '../support/service.ts'
import { sized } from '../support/whole.ts'

/**
 * Promise: a change of rows that changes an answer is one that matters to who watches it (spec/graphql.md 16.2). Random
 * subscriptions on random catalogues, and one random change after each; INTERESTS_SEED repeats a run.
 */
const seed = Number(process.env['INTERESTS_SEED'] ?? '700000')

/** Rows that are there before or after a change and not both, as texts by column. */
type Touched = ReadonlyMap<string, readonly Readonly<Record<string, string | null>>[]>

/** As changes report values: an enum by its label, a date as ISO 8601 has it, a boolean as `t` or `f`. */
const told = ({ name, type }: TableSketch['columns'][number]): string =>
  type.base === 'bool' && !type.list ? `left(${ident(name)}::text, 1)` : `${ident(name)}::text`

async function rowsOf(stage: Stage): Promise<ReadonlyMap<string, readonly string[]>> {
  const read = stage.world.tables.map(async (table): Promise<[string, readonly string[]]> => {
    const cells = table.columns.map((column) => `'${column.name.replaceAll("'", "''")}', ${told(column)}`)
    const sql = `select json_build_object(${cells.join(', ')})::text as row from ${ident(table.name)}`
    return [table.name, (await stage.service.db.query(sql)).rows.map(({ row }) => String(row))]
  })
  return new Map(await Promise.all(read))
}

function without(rows: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others]
  return rows.filter((row) => {
    const place = left.indexOf(row)
    if (place >= 0) left.splice(place, 1)
    return place < 0
  })
}

async function touchedBy(stage: Stage, change: string): Promise<Touched | null> {
  const before = await rowsOf(stage)
  try {
    await stage.service.db.query(change)
  } catch {
    return null
  }
  const after = await rowsOf(stage)
  return new Map(
    [...before].map(([table, rows]) => {
      const now = after.get(table) ?? []
      return [table, [...without(rows, now), ...without(now, rows)].map((row) => JSON.parse(row))]
    }),
  )
}

const isMet = (touched: Touched, { relation, pins }: Interest): boolean => {
  const rows = touched.get(relation.name) ?? []
  return rows.length > 0 && pins.every(({ column, value }) => rows.some((row) => row[column] === value))
}

/** One row gets the value of another row, or none, or goes, or comes a second time. */
function drawChange(draw: Draw, { tables }: World, interests: readonly Interest[]): string {
  const read = tables.filter(({ name }) => interests.some(({ relation }) => relation.name === name))
  const table = draw.pick(read.length === 0 || draw.chance(10) ? tables : read)
  const name = ident(table.name)
  const column = ident(draw.pick(table.columns).name)
  const row = (): string =>
    `(select ctid from ${name} order by ctid offset ${draw.int(Math.max(table.rows.length, 1))} limit 1)`
  const value = draw.chance(25) ? 'null' : `(select ${column} from ${name} where ctid = ${row()})`
  return draw.chance(15)
    ? `delete from ${name} where ctid = ${row()}`
    : `update ${name} set ${column} = ${value} where ctid = ${row()}`
}

/** Other comparisons seldom pin rows. */
const pinning = (draw: Draw, document: string): string =>
  draw.chance(80) ? document.replace(/\b(neq|lte?|gte?): /g, 'eq: ') : document

/** Most ways to reach related rows. */
const related = { relationFilters: true, orderByRelated: true, manyToMany: true }

interface Tally {
  watched: number
  changed: number
  /** Changes of read relations that wake no stream. */
  spared: number
}

/** Less would prove nothing. */
const isEnough = ({ changed, spared }: Tally): boolean => changed > 5 && spared > 2

async function tryOne(stage: Stage<TestService>, draw: Draw, tally: Tally): Promise<void> {
  const { question, writes } = drawQuestion(draw, stage.world)
  if (writes) return
  const { role, claims, variables } = question
  const subscription = asSubscription(question)
  if (subscription === null) return
  const document = pinning(draw, subscription.document)
  const asked = { role, claims, variables, live: true, ...(question.operationName !== null && { operationName: 'Q' }) }
  const found = await stage.service.watch(document, asked)
  if (found.kind !== 'watch') return
  tally.watched += 1
  const { disagreement } = await judge(stage, { ...question, document }, false)
  expect(disagreement).toBeNull()
  for (let round = 0; round < 8; round += 1) {
    const before = (await stage.service.serve(document, asked)).body
    const change = drawChange(draw, stage.world, found.interests)
    const touched = await touchedBy(stage, change)
    if (touched === null) continue
    const after = (await stage.service.serve(document, asked)).body
    const met = found.interests.some((interest) => isMet(touched, interest))
    if (before !== after) {
      tally.changed += 1
      expect({ met, document, variables, change, interests: found.interests, before, after }).toMatchObject({
        met: true,
      })
    } else if (!met && found.interests.some(({ relation }) => (touched.get(relation.name) ?? []).length > 0))
      tally.spared += 1
  }
  await stage.reset()
}

test(
  `a change that changes an answer matters to it (again: INTERESTS_SEED=${seed})`,
  { timeout: 120_000 },
  async () => {
    const tally: Tally = { watched: 0, changed: 0, spared: 0 }
    const end = Date.now() + Number(process.env['INTERESTS_SECONDS'] ?? sized(10, 2)) * 1_000
    for (const { limits: _, allowlist: __, ...world } of fc.sample(worlds, { seed, numRuns: 200 })) {
      // A busy machine takes longer for as much.
      if (Date.now() > end && isEnough(tally)) break
      if (usefulRoles(world).length === 0) continue
      const stage = await openStage({ ...world, additions: { ...world.additions, ...related }, live: true })
      try {
        const draws = fc.sample(choices(400), { seed, numRuns: 60 }).map(drawFrom)
        for (const draw of draws) await tryOne(stage, draw, tally)
      } finally {
        await stage.close()
      }
    }
    if (process.env['INTERESTS_SEED'] !== undefined) console.log(tally)
    expect(tally).toSatisfy(isEnough)
  },
)
