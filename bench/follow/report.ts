import type { RunRecord } from '../support/record.ts'
import { figure, median, quantile, ratios, spreadText } from '../support/statistics.ts'
import type { Row } from '../support/table.ts'
import type { BesideReads } from './beside.ts'
import type { Followed } from './measure.ts'

/** A row for each size and kind of change; the ratios are of a first request to the warm one after it. */
export const followRows = (all: readonly Followed[]): readonly Row[] =>
  all.flatMap(({ tables, fullMs, fullHeldMs, series }) =>
    Object.entries(series).map(
      ([change, { changed, warm, held, serverCpu, databaseCpu, diagnosticsCpu, diagnosticsHeld }]) => ({
        change,
        tables,
        'full ms': figure(fullMs),
        'loop held ms': figure(fullHeldMs),
        'first ms': figure(median(changed)),
        'p90 ms': figure(quantile(changed, 0.9)),
        'warm ms': figure(median(warm)),
        'over warm ms': figure(median(changed) - median(warm)),
        '× warm': spreadText(ratios(changed, warm)),
        'least ms': figure(Math.min(...changed)),
        'loop held ms, median / most': `${figure(median(held))} / ${figure(Math.max(...held))}`,
        'least CPU ms server / db': `${figure(Math.min(...serverCpu))} / ${figure(Math.min(...databaseCpu))}`,
        'CPU ms server / db': `${figure(median(serverCpu))} / ${figure(median(databaseCpu))}`,
        'told CPU ms, least / median': `${figure(Math.min(...diagnosticsCpu))} / ${figure(median(diagnosticsCpu))}`,
        'told, loop held ms, most': figure(Math.max(...diagnosticsHeld)),
      }),
    ),
  )

export const heapRows = (all: readonly Followed[]): readonly Row[] =>
  all.map(({ tables, heapMb: [before, half, after] }) => ({
    tables,
    'MB before': figure(before ?? Number.NaN),
    'MB after half': figure(half ?? Number.NaN),
    'MB after all': figure(after ?? Number.NaN),
    'after / half': figure((after ?? Number.NaN) / (half ?? Number.NaN)),
  }))

export const followFigures = (all: readonly Followed[]): RunRecord['figures'] =>
  Object.fromEntries(
    all.flatMap(({ tables, fullMs, fullHeldMs, series, heapMb }) => [
      [`follow.${tables}.full`, fullMs] as const,
      [`follow.${tables}.full.held`, fullHeldMs] as const,
      [`follow.${tables}.heap`, heapMb] as const,
      ...Object.entries(series).flatMap(([change, values]) =>
        Object.entries(values).map(([name, list]) => [`follow.${tables}.${change}.${name}`, list] as const),
      ),
    ]),
  )

/** Ratios are of reads beside alters to those before. */
export const besideRows = (all: readonly BesideReads[]): readonly Row[] =>
  all.map(({ tables, alone, beside, refused, changes }) => ({
    tables,
    'p50 / p99 ms before': `${figure(median(alone))} / ${figure(quantile(alone, 0.99))}`,
    'p50 / p99 ms beside': `${figure(median(beside))} / ${figure(quantile(beside, 0.99))}`,
    '× p50': figure(median(beside) / median(alone)),
    '× p99': figure(quantile(beside, 0.99) / quantile(alone, 0.99)),
    refused,
    'alter p50 / p99 ms': `${figure(median(changes))} / ${figure(quantile(changes, 0.99))}`,
  }))

export const besideFigures = (all: readonly BesideReads[]): RunRecord['figures'] =>
  Object.fromEntries(
    all.flatMap(({ tables, alone, beside, refused }) => [
      [`follow.${tables}.reads.alone`, alone] as const,
      [`follow.${tables}.reads.beside`, beside] as const,
      [`follow.${tables}.reads.refused`, refused] as const,
    ]),
  )
