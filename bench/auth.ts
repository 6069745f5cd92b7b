import { makeCases, type Case, type Side } from './auth/cases.ts'
import { measureCompany, type Company } from './auth/company.ts'
import { measureCase, type Plan, type Rounds, type Slice } from './auth/measure.ts'
import { openPlace } from './auth/place.ts'
import { withCleanup } from './support/cleanup.ts'
import { readOptions } from './support/options.ts'
import { writeRecord } from './support/record.ts'
import { figure, median, ratios, spreadOf, spreadText } from './support/statistics.ts'
import { printTable, type Row } from './support/table.ts'

/**
 * Auth: requests per second, latency and CPU per request of our endpoints and of the limit (auth/limit.ts), by turns on
 * one database; then GraphQL while people sign in. On a machine that others use too, CPU says more than requests per
 * second. `--seconds N` is the length of a slice (2), `--rounds N` how many of each (4), `--only TEXT` takes the cases
 * whose name holds it, `--json FILE` is where the record goes.
 */
const options = readOptions()
const seconds = options.number('seconds', 2)
const rounds = options.number('rounds', 4)
const only = options.text('only') ?? ''

/** More codes than the limit verifies in all slices of a run on any machine that we know. */
const codesPerSecond = 2_500

type Figures = Record<string, readonly number[]>

const measures = ['perSecond', 'p50', 'p99', 'main', 'others', 'postgres'] as const satisfies readonly (keyof Slice)[]

const valuesOf = (slices: readonly Slice[], measure: keyof Slice): readonly number[] =>
  slices.map((slice) => slice[measure])

function rowsOf({ name, sides }: Case, measured: Rounds): readonly Row[] {
  const of = (side: Side | undefined): readonly Slice[] => (side && measured.get(side)) ?? []
  const ours = of(sides.find((side) => side.name === 'ours'))
  const rate = (slices: readonly Slice[]) => valuesOf(slices, 'perSecond')
  const cpu = (slices: readonly Slice[]) => slices.map(({ main, others, postgres }) => main + others + postgres)
  return sides.map((side) => {
    const slices = of(side)
    const isOurs = side.name === 'ours'
    const middle = (measure: keyof Slice): string => figure(median(valuesOf(slices, measure)))
    return {
      endpoint: name,
      side: side.name,
      'req/s': spreadText(spreadOf(rate(slices))),
      'ours / it': isOurs ? '' : spreadText(ratios(rate(ours), rate(slices))),
      'its CPU / ours': isOurs ? '' : spreadText(ratios(cpu(slices), cpu(ours))),
      'p50 ms': middle('p50'),
      'p99 ms': middle('p99'),
      'main ms': middle('main'),
      'threads ms': middle('others'),
      'postgres ms': middle('postgres'),
    }
  })
}

function figuresOf({ name, sides }: Case, measured: Rounds): Figures {
  const entries = sides.flatMap((side) =>
    measures.map((one) => [`${name}.${side.name}.${one}`, valuesOf(measured.get(side) ?? [], one)] as const),
  )
  return Object.fromEntries(entries)
}

function companyRows({ idle, signingIn }: Company): readonly Row[] {
  const row = (quantile: 'p50' | 'p99'): Row => {
    const [alone, beside] = [idle.map((one) => one[quantile]), signingIn.map((one) => one[quantile])]
    return {
      'GraphQL, 200/s': quantile,
      'alone ms': spreadText(spreadOf(alone)),
      'beside sign-ins ms': spreadText(spreadOf(beside)),
      ratio: spreadText(ratios(beside, alone)),
    }
  }
  return [row('p50'), row('p99')]
}

const companyFigures = ({ idle, signingIn }: Company): Figures => ({
  'graphql.alone.p50': idle.map(({ p50 }) => p50),
  'graphql.alone.p99': idle.map(({ p99 }) => p99),
  'graphql.beside sign-ins.p50': signingIn.map(({ p50 }) => p50),
  'graphql.beside sign-ins.p99': signingIn.map(({ p99 }) => p99),
})

await withCleanup(async (later) => {
  const place = await openPlace(later)
  const plan: Plan = { rounds, ms: seconds * 1_000, postgres: place.postgres }
  const cases = await makeCases(place, { newcomers: Math.ceil((rounds + 0.5) * seconds * codesPerSecond) })
  const figures: Figures = {}
  for (const one of cases.filter(({ name }) => name.includes(only))) {
    const measured = await measureCase(one, plan)
    printTable('', rowsOf(one, measured))
    Object.assign(figures, figuresOf(one, measured))
  }
  const signIns = cases.find(({ name }) => name === 'password sign-in')
  if (signIns !== undefined && 'graphql'.includes(only)) {
    const company = await measureCompany(place, signIns, { ...plan, ms: plan.ms * 2 })
    printTable('', companyRows(company))
    Object.assign(figures, companyFigures(company))
  }
  const { rows } = await place.db.query('show server_version')
  const postgres = String((rows[0] as { readonly server_version: string }).server_version)
  await writeRecord({ bench: 'auth', figures, versions: { postgres } }, options.text('json'))
})
