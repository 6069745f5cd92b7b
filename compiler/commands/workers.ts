import type { RevisionSource } from '../../runtime/contract/artifact.ts'
import { openServerDatabase } from '../../runtime/database.ts'
import type { GraphqlService, ServiceParts } from '../../runtime/graphql/serve.ts'
import type { Log, LogEventKind } from '../../runtime/settings/log/events.ts'
import { runServer } from '../../runtime/main.ts'
import { createMetricsSum } from '../../runtime/console/observe/metrics.ts'
import { serveMetrics } from '../../runtime/console/observe/serve-metrics.ts'
import type { ServerSettings } from '../../runtime/server.ts'
import { settingsOfWorker, joinWorkers } from '../../runtime/http/workers/siblings.ts'
import { createSupervisor } from '../../runtime/http/workers/supervise.ts'
import type { WorkerPlace } from '../../runtime/http/workers/worker-process.ts'
import { type Terminal, exitCodes } from './command.ts'
import { logOf } from './log.ts'
import { keepHeapSmall } from './small-heap.ts'

/** `serve` in several processes: the primary and its workers. */

/** @param makeSource for the revisions that all workers serve */
export async function superviseServers(
  settings: ServerSettings,
  terminal: Terminal,
  makeSource: (log: Log) => Promise<RevisionSource>,
): Promise<number> {
  let reload = (): void => undefined
  // A closing terminal sends SIGHUP too.
  const stopRequested = terminal.stopRequested(terminal.human ? undefined : () => reload())
  const log = logOf(settings, terminal)
  const source = await makeSource(log)
  const { contentType, text } = await createMetricsSum()
  const supervisor = createSupervisor({
    workers: settings.workers,
    source,
    log,
    graceMs: settings.shutdownGraceMs,
    drainMs: settings.shutdownDrainMs,
    replicaMaxStalenessMs: settings.replicaMaxStalenessMs,
    sumMetrics: text,
    stopRequested,
    onReady: keepHeapSmall,
  })
  reload = () => void supervisor.reload()
  const { metrics: place } = settings
  const server =
    place === null || place === 'here' ? null : await serveMetrics(place, { contentType, text: supervisor.metrics })
  try {
    return await supervisor.run()
  } finally {
    server?.close()
  }
}

export async function serveAmongOthers(
  given: ServerSettings,
  terminal: Terminal,
  { number, listensEarly }: WorkerPlace,
  createService: (parts: ServiceParts) => GraphqlService,
): Promise<number> {
  const settings = settingsOfWorker(given)
  const siblings = joinWorkers({
    send: (message) => process.send?.(message),
    onMessage: (hear) => void process.on('message', hear),
    onDisconnect: (hear) => void process.once('disconnect', hear),
  })
  // Signals of a terminal reach every process of it. SIGHUP is for the primary alone.
  const signal = terminal.stopRequested(() => undefined)
  await runServer({
    settings,
    database: openServerDatabase(settings),
    source: siblings.source,
    createService,
    log: saidOnce(logOf(settings, terminal, number), number),
    siblings,
    onReady: (url) => {
      keepHeapSmall()
      siblings.ready(url)
    },
    listensEarly,
    stopRequested: Promise.race([signal, siblings.stopRequested]),
  })
  return exitCodes.done
}

/** Events that the primary logs for all workers, and events that would be the same for each. */
const byPrimary: ReadonlySet<LogEventKind> = new Set(['stopping', 'stopped'])
const alike: ReadonlySet<LogEventKind> = new Set([
  'listening',
  'revision-ready',
  'revision-failed',
  'documents-outdated',
  'schema-summary',
  'nothing-visible',
  'not-ready',
  'mails-kept',
  'role-setting-ignored',
  'pooler-found',
])

const saidOnce =
  (log: Log, number: number): Log =>
  (event) => {
    if (!byPrimary.has(event.kind) && (number === 1 || !alike.has(event.kind))) log(event)
  }
