import { withCleanup } from './support/cleanup.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { writeRecord } from './support/record.ts'
import { figure } from './support/statistics.ts'
import { printTable, type Row } from './support/table.ts'
import { measureHold, type Held } from '../test/support/held.ts'
import { bodyOf, hostileDocuments } from '../test/support/hostile-documents.ts'
import { openSubject } from './loop/subject.ts'

/**
 * How long malicious documents block the event loop: for each, the CPU of the process, other threads included, and the
 * longest blocking; on first and repeated use. The application and a client without sockets are in one process. The
 * minimum of several rounds is shown.
 *
 * --kinds 'aliases' 'selections repeated' (of documents; absent: all) --scale 1 --rounds 3 --json FILE
 */
const options = readOptions()
const rounds = options.number('rounds', 3)
const wanted = options.texts('kinds')

const least = (helds: readonly Held[], of: keyof Held): number => Math.min(...helds.map((held) => Number(held[of])))

const rows: Row[] = []
const figures: Record<string, number> = {}

await withCleanup(async (later) => {
  const postgres = await startPostgres()
  later(postgres.stop)
  const subject = await openSubject()
  later(subject.close)
  const documents = Object.entries(hostileDocuments(options.number('scale', 1)))
  for (const [name, make] of documents.filter(([name]) => wanted.length === 0 || wanted.includes(name))) {
    const document = make()
    const first: Held[] = []
    const again: Held[] = []
    for (let round = 0; round < rounds; round += 1) {
      // The mark makes the text unique.
      const body = Buffer.from(bodyOf({ ...document, query: `${document.query}#${round}` }))
      first.push(await measureHold(() => subject.ask(body)))
      again.push(await measureHold(() => subject.ask(body)))
    }
    const times = {
      firstCpu: least(first, 'cpuMs'),
      firstHeld: least(first, 'heldMs'),
      nextCpu: least(again, 'cpuMs'),
      nextHeld: least(again, 'heldMs'),
    }
    rows.push({
      document: name,
      kB: Math.round(bodyOf(document).length / 1_024),
      answer: first[0]?.answer ?? '',
      'first CPU ms': figure(times.firstCpu),
      'held ms': figure(times.firstHeld),
      'next CPU ms': figure(times.nextCpu),
      'then held ms': figure(times.nextHeld),
    })
    for (const [part, time] of Object.entries(times)) figures[`loop.${name.replaceAll(' ', '-')}.${part}`] = time
    if (options.flag('verbose')) console.info(rows.at(-1))
  }
})

printTable('Documents that were made to hold the event loop', rows)
await writeRecord({ bench: 'loop', figures }, options.text('json'))
