import { propagation, trace } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHistogram } from '../../../../runtime/console/observe/metrics.ts'
import { freePort } from '../../../../runtime/db/embedded/free-port.ts'
import { createDatabase, overSessions } from '../../../support/database.ts'
import { packageVersion } from '../../../../runtime/lib/package.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { keys, whileServed, type ServedProject } from '../../../support/while-served.ts'

const db = forSuite(createDatabase, {
  prepare: true,
  sql: `create table notes (id int primary key); insert into notes values (1);
      create function wait() returns int language sql stable as 'select 1 from pg_sleep(0.2)';
      create function name() returns text language sql stable as $$ select current_setting('application_name') $$;
      create function long() returns text language sql stable as $$ select repeat('x', 10_000_000) $$;
      create function wait_long() returns int language sql stable as 'select 1 from pg_sleep(30)';
      grant select on notes to anon, service_role;`,
})

const serving = (settings: Readonly<Record<string, string>>, visit: (project: ServedProject) => Promise<void>) =>
  whileServed(db, settings, visit)

const textOf = async (url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> =>
  (await fetch(url, { headers })).text()

/** The value of a series whose labels contain these. */
const valueOf = (text: string, name: string, ...labels: readonly string[]): number => {
  const line = text.split('\n').find((one) => one.startsWith(name) && labels.every((label) => one.includes(label)))
  return Number(line?.split(' ').at(-1) ?? NaN)
}

describe('metrics', () => {
  it('are served to the owner, on the address of the service', async () => {
    await serving({ METRICS: 'on' }, async ({ url, graphql }) => {
      await graphql('query Notes { notesCollection { edges { node { id } } } }')
      await graphql('query Notes { notesCollection { edges { node { id } } } }')
      await graphql('{ nothing }')
      expect((await fetch(`${url}/metrics`)).status).toBe(401)
      expect((await fetch(`${url}/metrics`, { headers: { apikey: keys.anon } })).status).toBe(403)
      const text = await textOf(`${url}/metrics`, { authorization: `Bearer ${keys.serviceRole}` })
      const node = `node="${process.versions.node}"`
      expect(valueOf(text, 'catalograph_build_info', `version="${await packageVersion()}"`, 'revision="', node)).toBe(1)
      const count = 'catalograph_graphql_request_seconds_count'
      expect(valueOf(text, count, 'operation="Notes"', 'role="anon"', 'outcome="ok"')).toBe(2)
      expect(valueOf(text, count, 'operation="anonymous"', 'outcome="invalid"')).toBe(1)
      for (const phase of ['prepare', 'queue', 'database']) {
        expect(valueOf(text, 'catalograph_graphql_phase_seconds_count', `phase="${phase}"`)).toBeGreaterThanOrEqual(2)
      }
      expect(valueOf(text, 'catalograph_connections_open')).toBeGreaterThanOrEqual(1)
      expect(valueOf(text, 'catalograph_requests_waiting')).toBe(0)
      expect(valueOf(text, 'catalograph_compile_seconds_count')).toBe(1)
      expect(valueOf(text, 'catalograph_http_request_seconds_count', 'route="/graphql/v1"', 'status="200"')).toBe(3)
      const bucket = (le: string): number =>
        valueOf(text, 'catalograph_graphql_request_seconds_bucket', 'operation="Notes"', `le="${le}"`)
      expect(bucket('0.001')).toBeLessThanOrEqual(bucket('30'))
      expect([bucket('30'), bucket('+Inf')]).toEqual([2, 2])
      const sum = valueOf(text, 'catalograph_graphql_request_seconds_sum', 'operation="Notes"')
      expect(sum).toBeGreaterThan(0)
      expect(sum).toBeLessThan(60)
      expect(valueOf(text, 'nodejs_eventloop_lag_seconds')).toBeGreaterThanOrEqual(0)
    })
  })

  it('count each answered HTTP request once by pattern and status, short, long or refused', async () => {
    const port = await freePort()
    await serving({ METRICS: `127.0.0.1:${port}` }, async ({ url, graphql }) => {
      const long = (await graphql('{ long }')).text()
      expect(await long).toHaveLength('{"data":{"long":""}}'.length + 10_000_000)
      await graphql('{ long }', { apikey: 'wrong' })
      for (const path of ['/nowhere', '/elsewhere', '/%zz', '/health']) await textOf(`${url}${path}`)
      await fetch(`${url}/graphql/v1`, { method: 'OPTIONS' })
      const text = await textOf(`http://127.0.0.1:${port}/metrics`)
      const name = 'catalograph_http_request_seconds'
      const answered = (method: string, route: string, status: number): number =>
        valueOf(text, `${name}_count`, `method="${method}"`, `route="${route}"`, `status="${status}"`)
      expect(answered('POST', '/graphql/v1', 200)).toBe(1)
      expect(answered('POST', '/graphql/v1', 401)).toBe(1)
      expect(answered('GET', 'none', 404)).toBe(2)
      expect(answered('GET', '/health', 200)).toBe(1)
      expect(answered('OPTIONS', '/graphql/v1', 204)).toBe(1)
      expect(valueOf(text, `${name}_sum`, 'status="200"', 'route="/graphql/v1"')).toBeLessThan(60)
      // An address that cannot be read has no pattern.
      expect(text).not.toMatch(/http_request_seconds_count\{.*status="400"/)
    })
  })

  it('add up by bucket', () => {
    const histogram = createHistogram({ name: 'waits', help: 'How long.', labelNames: ['who', 'why'] })
    for (const seconds of [0.001, 0.0011, 7, 31]) histogram.observe(['a', 'x'], seconds)
    histogram.observe(['b', 'x'], 1)
    const { values } = histogram.values()
    const valueAt = (metricName: string, labels: Readonly<Record<string, string>>): unknown =>
      values.find(
        (one) => one.metricName === metricName && Object.entries(labels).every(([k, v]) => one.labels[k] === v),
      )?.value
    const upTo = ['0.001', '0.0025', '5', '10', '30', '+Inf'].map((le) => valueAt('waits_bucket', { who: 'a', le }))
    expect(upTo).toEqual([1, 2, 2, 3, 3, 4])
    expect(valueAt('waits_sum', { who: 'a', why: 'x' })).toBeCloseTo(38.0021)
    expect([valueAt('waits_count', { who: 'a' }), valueAt('waits_count', { who: 'b' })]).toEqual([4, 1])
  })

  it('have an address of their own, and as many series as there are names, up to a bound', async () => {
    const port = await freePort()
    await serving({ METRICS: `127.0.0.1:${port}` }, async ({ url, graphql }) => {
      await Promise.all(Array.from({ length: 250 }, (_, index) => graphql(`query N${index} { __typename }`)))
      const text = await textOf(`http://127.0.0.1:${port}/metrics`)
      const series = text.match(/^catalograph_graphql_request_seconds_count\{.*$/gm) ?? []
      expect(series).toHaveLength(201)
      expect(valueOf(text, 'catalograph_graphql_request_seconds_count', 'operation="other"')).toBe(50)
      expect((await fetch(`${url}/metrics`)).status).toBe(404)
      expect((await fetch(`http://127.0.0.1:${port}/else`)).status).toBe(404)
    })
  })

  it('count look-ups in the caches, and what these hold', async () => {
    await serving({ METRICS: 'on' }, async ({ url, graphql }) => {
      for (const id of [1, 2, 2]) await graphql(`query Note { notesByPk(id: ${id}) { id } }`)
      for (let n = 0; n < 2; n += 1) await graphql('{ nothing }')
      const metrics = () => textOf(`${url}/metrics`, { authorization: `Bearer ${keys.serviceRole}` })
      // The log, which reports each role of the API, has made all three schemas by then.
      const entries = async (): Promise<number> =>
        valueOf(await metrics(), 'catalograph_cache_entries', 'cache="role-schemas"')
      await expect.poll(entries).toBe(3)
      const text = await metrics()
      const lookups = (cache: string): readonly number[] =>
        ['hit', 'miss'].map((result) =>
          valueOf(text, 'catalograph_cache_lookups_total', `cache="${cache}"`, `result="${result}"`),
        )
      expect(lookups('documents')).toEqual([1, 4])
      expect(lookups('refusals')).toEqual([1, 3])
      expect(lookups('statements')).toEqual([1, 2])
      expect(lookups('listed-documents')).toEqual([0, 0])
      expect(lookups('role-schemas')).toEqual([3, 3])
      expect(valueOf(text, 'catalograph_cache_entries', 'cache="documents"')).toBe(2)
      expect(valueOf(text, 'catalograph_cache_characters', 'cache="documents"')).toBeGreaterThan(60)
      expect(text).not.toContain('catalograph_cache_characters{cache="role-schemas"}')
    })
  })

  it('count cancellations by cause', async () => {
    const port = await freePort()
    await serving({ METRICS: `[::1]:${port}` }, async ({ url }) => {
      const gone = new AbortController()
      const leaving = fetch(`${url}/graphql/v1`, {
        method: 'POST',
        headers: { apikey: keys.anon, 'content-type': 'application/json' },
        body: JSON.stringify({ query: '{ wait_long }' }),
        signal: gone.signal,
      })
      const asleep = async (): Promise<unknown> =>
        (
          await overSessions(db).query(
            "select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()",
          )
        ).rows.length
      await expect.poll(asleep, { timeout: 10_000 }).toBe(1)
      gone.abort()
      await leaving.catch(() => undefined)
      await expect
        .poll(async () =>
          valueOf(await textOf(`http://[::1]:${port}/metrics`), 'catalograph_cancelled_requests_total', 'gone'),
        )
        .toBe(1)
    })
  })
})

describe('the log', () => {
  it('has a line for each request where it is wanted, and one for each that was slow', async () => {
    const { noted } = await serving({ ACCESS_LOG: 'on', SLOW_REQUEST_MS: '150' }, async ({ graphql }) => {
      await graphql('query Quick { __typename }')
      await graphql('query Slow { wait }')
      await graphql('query Stranger { wait }', { apikey: 'rubbish' })
    })
    const events = noted.split('\n').flatMap((line) => {
      try {
        return [JSON.parse(line) as Readonly<Record<string, unknown>>]
      } catch {
        return []
      }
    })
    const requests = events.filter(({ event, path }) => event === 'request' && path === '/graphql/v1')
    const known = { level: 'info', status: 200, role: 'anon', address: '127.0.0.1' }
    expect(requests).toMatchObject([
      { ...known, operation: 'Quick', message: expect.stringContaining('Quick as anon from 127.0.0.1') },
      { ...known, operation: 'Slow' },
      { status: 401, address: '127.0.0.1' },
    ])
    expect(requests[2]).not.toHaveProperty('role')
    expect(requests.every(({ ms }) => /^\d+(?:\.\d)?$/.test(String(ms)))).toBe(true)
    // The other may take as long on a machine that is busy.
    expect(events.filter(({ event, operation }) => event === 'slow-request' && operation === 'Slow')).toMatchObject([
      {
        operation: 'Slow',
        role: 'anon',
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        phases: { queue: expect.any(Number) },
      },
    ])
    for (const settings of [{}, { SLOW_REQUEST_MS: '600000' }]) {
      const { noted: quiet } = await serving(settings, async ({ graphql }) => void (await graphql('{ wait }')))
      expect(quiet).not.toMatch(/"event":"(?:request|slow-request)"/)
    }
  })
})

it('a header shows the durations of the parts of a request to the owner alone', async () => {
  await serving({ SLOW_REQUEST_MS: '5000' }, async ({ graphql }) => {
    const owner = await graphql('{ __typename notesCollection { edges { cursor } } }', { apikey: keys.serviceRole })
    expect(owner.headers.get('server-timing')).toMatch(/^prepare;dur=[\d.]+, queue;dur=[\d.]+, database;dur=[\d.]+$/)
    expect((await graphql('{ __typename }')).headers.get('server-timing')).toBeNull()
  })
})

describe('traces', () => {
  const exporter = new InMemorySpanExporter()
  beforeAll(() => {
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
    propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  })
  afterAll(() => {
    trace.disable()
    propagation.disable()
  })

  it('hang on what the client sent, with a span for each part of a request', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    await serving({ TRACING: 'on' }, async ({ graphql }) => {
      const slow = graphql('query Slow { wait }', { traceparent: `00-${traceId}-00f067aa0ba902b7-01` })
      const names = async (): Promise<readonly string[]> => {
        const { rows } = await overSessions(db).query('select application_name as name from pg_stat_activity')
        return rows.map(({ name }) => String(name))
      }
      await expect.poll(names).toContain(`Slow ${traceId}`)
      await slow
      expect(await names()).not.toContain(`Slow ${traceId}`)
    })
    const spans = exporter.getFinishedSpans()
    expect(spans.map(({ name }) => name).sort()).toEqual(['database', 'graphql Slow', 'prepare', 'queue'])
    expect(new Set(spans.map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]))
    const whole = spans.find(({ name }) => name === 'graphql Slow')
    expect(whole?.parentSpanContext?.spanId).toBe('00f067aa0ba902b7')
    expect(whole?.attributes).toMatchObject({ 'graphql.operation.name': 'Slow', 'catalograph.role': 'anon' })
    const database = spans.find(({ name }) => name === 'database')
    expect(database?.parentSpanContext?.spanId).toBe(whole?.spanContext().spanId)
    expect(database?.duration[1]).toBeGreaterThan(150_000_000)
  })

  const askedFor = async (
    { graphql }: ServedProject,
    count: number,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<number> => {
    exporter.reset()
    for (let request = 0; request < count; request += 1) await graphql('{ __typename }', headers)
    return exporter.getFinishedSpans().filter(({ name }) => name.startsWith('graphql')).length
  }

  it('are made for a share of the requests', async () => {
    await serving({ TRACING: '0.5' }, async (project) => {
      const traced = await askedFor(project, 200)
      expect(traced).toBeGreaterThan(40)
      expect(traced).toBeLessThan(160)
    })
  })

  it.each([
    ['0.000000001', '01', 5],
    ['0.999999999', '00', 0],
  ])('follow the client, whatever the share: %s, flags %s', async (share, flags, traced) => {
    const traceparent = `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-${flags}`
    await serving({ TRACING: share }, async (project) => {
      expect(await askedFor(project, 5, { traceparent })).toBe(traced)
    })
  })

  it('leave a request alone whose trace its client does not keep', async () => {
    trace.disable()
    const sampler = new ParentBasedSampler({ root: new AlwaysOnSampler() })
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ sampler, spanProcessors: [new SimpleSpanProcessor(exporter)] }),
    )
    exporter.reset()
    const name = async (graphql: ServedProject['graphql'], flags: '00' | '01'): Promise<unknown> => {
      const traceparent = `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-${flags}`
      return (await graphql('query Name { name }', { traceparent })).json()
    }
    await serving({ TRACING: 'on' }, async ({ graphql }) => {
      expect(await name(graphql, '00')).toEqual({ data: { name: 'catalograph' } })
      expect(exporter.getFinishedSpans()).toEqual([])
      expect(await name(graphql, '01')).toEqual({ data: { name: 'Name 4bf92f3577b34da6a3ce929d0e0e4736' } })
      expect(exporter.getFinishedSpans()).toHaveLength(4)
    })
  })
})
