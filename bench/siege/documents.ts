import { setTimeout as pause } from 'node:timers/promises'
import { codeOf } from '../../test/support/siege/arms.ts'
import type { DearDocument } from '../../test/support/siege/attacks/documents.ts'
import { anonOf, asking } from '../../test/support/siege/callers.ts'
import type { Town } from '../../test/support/siege/town.ts'
import { cpuTime, mainThreadTime } from '../support/cpu.ts'
import { httpRequest, openConnection, type HttpConnection } from '../support/http-client.ts'
import { figure, median } from '../support/statistics.ts'
import type { Row } from '../support/table.ts'

/** The cost of one document for an idle server. */
export interface MeasuredDocument {
  readonly name: string
  readonly kilobytes: number
  readonly code: string
  readonly first: Cost
  /** The median of the following ones, which are the same. */
  readonly next: Cost
  readonly figures: Readonly<Record<string, number>>
}

/** In milliseconds. */
interface Cost {
  /** Of the whole process. */
  readonly cpu: number
  /** Of its main thread, the event loop. */
  readonly main: number
  /** The longest delay of a trivial request in between. */
  readonly held: number
}

const repetitions = 5

const preflight = httpRequest({ method: 'OPTIONS', path: '/graphql/v1' })

/** The longest delay of consecutive requests until the work is done. */
async function waits(probe: HttpConnection, work: Promise<unknown>): Promise<number> {
  const state = { done: false }
  void work.finally(() => (state.done = true)).catch(() => undefined)
  let longest = 0
  while (!state.done) {
    const sent = performance.now()
    await probe.send(preflight)
    longest = Math.max(longest, performance.now() - sent)
    await pause(1)
  }
  return longest
}

async function once({ server }: Town, bytes: Buffer): Promise<Cost & { readonly code: string }> {
  const [probe, asker] = [await openConnection(server.port), await openConnection(server.port, '127.0.3.1')]
  try {
    const [cpu, main] = [cpuTime(server.pid), mainThreadTime(server.pid)]
    const answered = asker.send(bytes).then(codeOf, () => 'no answer')
    const held = await waits(probe, answered)
    const code = await answered
    const used = { cpu: cpuTime(server.pid) - cpu, main: mainThreadTime(server.pid) - main }
    return { code, cpu: used.cpu / 1_000, main: used.main / 1_000, held }
  } finally {
    probe.close()
    asker.close()
  }
}

async function measure(town: Town, { name, query, variables }: DearDocument): Promise<MeasuredDocument> {
  const bytes = asking(anonOf(town), query, variables)
  const { code, ...first } = await once(town, bytes)
  const all: Cost[] = []
  for (let n = 0; n < repetitions; n += 1) all.push(await once(town, bytes))
  const medianOf = (key: keyof Cost): number => median(all.map((cost) => cost[key]))
  const next = { cpu: medianOf('cpu'), main: medianOf('main'), held: medianOf('held') }
  const path = `siege.document.${name.replaceAll(/\W+/g, '-')}`
  const [firstOf, nextOf] = [`${path}.first`, `${path}.next`]
  const figures = { [`${firstOf}.cpu`]: first.cpu, [`${firstOf}.held`]: first.held, [`${nextOf}.cpu`]: next.cpu }
  return { name, kilobytes: bytes.length / 1_024, code, first, next, figures }
}

export async function measureDocuments(
  town: Town,
  documents: readonly DearDocument[],
): Promise<readonly MeasuredDocument[]> {
  const measured: MeasuredDocument[] = []
  for (const document of documents) measured.push(await measure(town, document))
  return measured
}

export const documentRows = (measured: readonly MeasuredDocument[]): readonly Row[] =>
  measured.map(({ name, kilobytes, code, first, next }) => ({
    document: name,
    KB: figure(kilobytes),
    answer: code,
    'first, CPU': figure(first.cpu),
    'first, main thread': figure(first.main),
    'first, others wait': figure(first.held),
    'next, CPU': figure(next.cpu),
    'next, others wait': figure(next.held),
  }))
