import { existsSync, readdirSync } from 'node:fs'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { questions, usefulRoles } from '../../reference/questions/document.ts'
import type { Revision } from '../../../runtime/contract/artifact.ts'
import { createEngine } from '../../../compiler/additions/engine.ts'
import { createApart, type Apart } from '../../../runtime/graphql/apart/apart.ts'
import type { Question } from '../../../runtime/graphql/apart/messages.ts'
import { unpack } from '../../../runtime/graphql/apart/packing.ts'
import { usualThreadLimits, type ThreadAnswer, type Thread } from '../../../runtime/graphql/apart/thread.ts'
import { bindAll } from '../../../runtime/graphql/run/bind.ts'
import { untrustedCacheLimits, createDocuments } from '../../../runtime/graphql/prepared/documents.ts'
import { Refusal, withinStack } from '../../../runtime/graphql/protocol/failures.ts'
import { readBody, readBodyQuickly } from '../../../runtime/graphql/http/request.ts'
import { createService, createThread } from '../../../compiler/additions/service.ts'
import type { GraphqlService } from '../../../runtime/graphql/serve.ts'
import { joinConstants } from '../../../runtime/graphql/statements/statements.ts'
import { openDatabase } from '../../../runtime/db/pool/pool.ts'
import { worlds } from '../../reference/exact/worlds/world.ts'
import { openStage } from '../../reference/exact/stage.ts'
import { forSuite } from '../../support/for-suite.ts'
import { measureHold } from '../../support/held.ts'
import { bodyOf, hostileDocuments, hostileSql } from '../../support/hostile-documents.ts'
import { createTestService } from '../../support/service.ts'
import { sized } from '../../support/whole.ts'

let revision: Revision
const place = forSuite(createTestService, { sql: hostileSql, isolated: true })
const database = forSuite(async () => openDatabase({ url: place.db.url, schemas: ['public'], poolSize: 4 }))
beforeAll(async () => {
  // Its revision is loaded once: roles that tests of the same server create would make another version.
  revision = await place.revision()
})

const caller = { role: 'anon', claims: '{"role":"anon"}' }
const serviceWith = (apart?: Apart): GraphqlService =>
  createService({ database, source: async () => revision, ...(apart && { apart }) })

/** Reads synchronously on this thread; another thread must find the same. */
const here: Apart = {
  read: async ({ documents, asked, request }) => {
    const variables = request.unread === undefined ? request.variables : readBody(request.unread).variables
    const prepared = withinStack(() => documents.find(asked).prepare(variables))
    return { writes: prepared.statements.writes, pieces: prepared.statements.pieces, bound: bindAll(prepared) }
  },
}

const questionOf = (of: Revision, asked: Partial<Question> & Pick<Question, 'text'>): Question => ({
  kind: 'question',
  revision: of.id,
  role: 'anon',
  operationName: null,
  queryOnly: false,
  live: false,
  byStep: false,
  variables: {},
  unread: null,
  ...asked,
})

const readHere = (of: Revision, { role, text, operationName, variables }: Question): unknown => {
  try {
    const document = createDocuments(createEngine(of), untrustedCacheLimits).find({ role, text, operationName })
    const prepared = withinStack(() => document.prepare(variables))
    const { writes, pieces } = joinConstants(prepared.statements)
    return { ready: { writes, pieces, bound: bindAll(prepared) } }
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, errors: error.errors }
    throw error
  }
}

const told = async (answer: ThreadAnswer): Promise<string> => {
  if (answer.kind === 'ready') return JSON.stringify({ ready: await unpack(answer.ready) })
  return answer.kind === 'refused' ? JSON.stringify({ code: answer.code, errors: answer.errors }) : answer.kind
}

/** A text that is hardly the same any more. */
const torn = fc.tuple(fc.nat(), fc.constantFrom('', '{', '}', '"', '$', 'x', '...', ')', '"""', '#')).map(
  ([at, put]) =>
    (text: string): string =>
      `${text.slice(0, at % text.length)}${put}${text.slice((at % text.length) + 1)}`,
)

describe('the other thread', () => {
  const seed = Number(process.env['FC_SEED'] ?? '14')
  it(`reads as the first one does (FC_SEED=${seed})`, { timeout: 120_000 }, async () => {
    const thread = createThread()
    const drawn = fc.sample(worlds, { seed, numRuns: 8 }).filter((world) => usefulRoles(world).length > 0)
    for (const world of drawn.slice(0, 3)) {
      const stage = await openStage(world)
      try {
        const of = await stage.service.revision()
        const asked = fc.sample(fc.tuple(questions(world), fc.option(torn)), { seed, numRuns: sized(60, 15) })
        for (const [{ question }, tear] of asked) {
          const { document, variables, role, operationName } = question
          const text = tear === null ? document : tear(document)
          const given = JSON.parse(JSON.stringify(variables)) as Question['variables']
          const wanted = questionOf(of, { text, variables: given, role, operationName })
          expect(await told(await thread.ask(of, wanted)), text).toBe(JSON.stringify(readHere(of, wanted)))
        }
      } finally {
        await stage.close()
      }
    }
  })

  it('reads the body that holds the variables, and says what is wrong with it', async () => {
    const thread = createThread()
    const text = 'query($ids:[Int!]){notesCollection(filter:{id:{in:$ids}}){edges{node{id}}}}'
    const ask = (variables: string) =>
      thread.ask(revision, questionOf(revision, { text, unread: `{"query":"","variables":${variables}}` }))
    expect(await told(await ask('{"ids":[1,2]}'))).toContain(JSON.stringify('{"1","2"}'))
    expect(await ask('{"ids":["x"]}')).toMatchObject({ kind: 'refused', code: 'BAD_VARIABLES', always: false })
    expect(await ask('{"ids":[1,2}')).toMatchObject({ kind: 'unreadable', code: 'BODY_MALFORMED' })
  })

  it(
    'ends over what takes too much memory or time, and the next question gets another one',
    { timeout: 60_000 },
    async () => {
      const { query: text } = hostileDocuments(0.5)['conditions']?.() ?? { query: '' }
      const small = createThread({ ...usualThreadLimits, megabytes: 24 })
      expect(await small.ask(revision, questionOf(revision, { text }))).toEqual({ kind: 'exhausted' })
      expect(await small.ask(revision, questionOf(revision, { text: '{__typename}' }))).toMatchObject({ kind: 'ready' })
      const hasty = createThread({ ...usualThreadLimits, longestMs: 300 })
      expect(await hasty.ask(revision, questionOf(revision, { text }))).toEqual({ kind: 'late' })
      const patient = createThread()
      expect(await patient.ask(revision, questionOf(revision, { text: '{__typename}' }))).toMatchObject({
        kind: 'ready',
      })
    },
  )

  it('ends when it is not asked for a while, and starts again', async () => {
    const threads = (): number => (existsSync('/proc/self/task') ? readdirSync('/proc/self/task').length : 0)
    const thread = createThread({ ...usualThreadLimits, idleMs: 500 })
    for (let round = 0; round < 2; round += 1) {
      expect(await thread.ask(revision, questionOf(revision, { text: '{__typename}' }))).toMatchObject({
        kind: 'ready',
      })
      // Threads of other services of this process may end at the same time.
      const during = threads()
      if (during > 0) await expect.poll(threads, { timeout: 10_000 }).toBeLessThan(during)
    }
  })

  it('reports faults of ours, and goes on', async () => {
    const thread = createThread()
    const [{ id } = { id: '' }] = revision.entities
    const broken = { ...revision, id: 'broken', entities: [{ id, text: 'throw new Error("no builder")' }] }
    const text = '{notesCollection{edges{node{id}}}}'
    const answer = await thread.ask(broken, questionOf(broken, { text }))
    expect(answer).toMatchObject({ kind: 'failed', detail: expect.stringContaining('no builder') as string })
    expect(await thread.ask(revision, questionOf(revision, { text }))).toMatchObject({ kind: 'ready' })
  })

  it('takes another revision', async () => {
    const thread = createThread()
    const other = { ...revision, id: 'other', manifest: { ...revision.manifest, entities: [] } }
    const text = '{notesCollection{edges{node{id}}}}'
    const kinds: string[] = []
    for (const of of [revision, other, revision]) kinds.push((await thread.ask(of, questionOf(of, { text }))).kind)
    expect(kinds).toEqual(['ready', 'refused', 'ready'])
  })
})

describe('documents that were made to hold the event loop', () => {
  it('are answered as ever', { timeout: 240_000 }, async () => {
    const asked = hostileDocuments(sized(0.05, 0.01))
    const [apart, direct] = [serviceWith(), serviceWith(here)]
    for (const [name, document] of Object.entries(asked)) {
      const text = bodyOf(document())
      const of = async (service: GraphqlService): Promise<unknown> => {
        try {
          const { outcome, body } = await service.serve(readBodyQuickly(text), caller)
          return [outcome, body.toString()]
        } catch (error) {
          return error
        }
      }
      const answer = await of(apart)
      await place.db.query('delete from notes where id > 2')
      expect(answer, name).toEqual(await of(direct))
      await place.db.query('delete from notes where id > 2')
      // The facts that were kept about it say the same.
      expect(await of(apart), name).toEqual(answer)
      await place.db.query('delete from notes where id > 2')
    }
  })

  it('hold it for a moment, however large they are', { timeout: 240_000 }, async () => {
    const service = serviceWith()
    // Each of them held it for 300 ms and more.
    const large = {
      'repeated after many': 0.5,
      'operations and fragments': 0.5,
      'aliases of a name': 0.6,
      values: 1,
      variables: 0.5,
      conditions: 0.15,
      rows: 1,
      'empty objects in a variable': 0.3,
      'a variable in many places': 1,
    }
    for (const [name, scale] of Object.entries(large)) {
      const text = bodyOf(hostileDocuments(scale)[name]?.() ?? { query: '' })
      const { heldMs } = await measureHold(async () => (await service.serve(readBodyQuickly(text), caller)).outcome)
      expect(heldMs, name).toBeLessThan(200)
      await place.db.query('delete from notes where id > 2')
    }
  })

  it('wait in a queue that has an end', { timeout: 60_000 }, async () => {
    const service = serviceWith(createApart(createThread(), { each: 4, all: 32 }))
    const { query } = hostileDocuments(0.05)['operations and fragments']?.() ?? { query: '' }
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        service.serve(
          { query: `${query}#${index}`, operationName: 'Q1', variables: {}, extensions: {}, queryOnly: false },
          caller,
        ),
      ),
    )
    const outcomes = answers.map(({ outcome }) => outcome)
    expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(5)
    expect(outcomes.filter((outcome) => outcome === 'overloaded')).toHaveLength(3)
    expect(answers.find(({ outcome }) => outcome === 'overloaded')?.body).toContain('"code":"OVERLOADED"')
  })
})

describe('the verdict on a long document', () => {
  it('is waited for by all callers of the same document', async () => {
    let asked = 0
    const thread = createThread()
    const ask: Thread['ask'] = (of, question) => {
      asked += 1
      return thread.ask(of, question)
    }
    const service = serviceWith(createApart({ ask }, { each: 0, all: 0 }))
    const request = { operationName: null, variables: {}, extensions: {}, queryOnly: false }
    for (const query of [
      `{__typename}${' '.repeat(450_000)}`,
      `{nothing}${' '.repeat(450_000)}`,
      '{__schema{types{name}}}',
    ]) {
      asked = 0
      const answers = await Promise.all(Array.from({ length: 12 }, () => service.serve({ ...request, query }, caller)))
      expect(new Set(answers.map(({ body }) => body.toString())).size).toBe(1)
      expect(answers[0]?.body.toString()).not.toContain('OVERLOADED')
      expect(asked).toBe(1)
    }
  })

  it('is kept, refusals as well', async () => {
    let asked = 0
    const thread = createThread()
    const apart = createApart({
      ask: (of, question) => {
        asked += 1
        return thread.ask(of, question)
      },
    })
    const service = serviceWith(apart)
    const ask = async (query: string, variables = {}) =>
      (await service.serve({ query, operationName: null, variables, extensions: {}, queryOnly: false }, caller)).outcome
    const long = (text: string): string => `${text}${' '.repeat(450_000)}`
    const one = long('query($id:Int){notesCollection(filter:{id:{eq:$id}}){edges{node{id}}}}')
    expect([await ask(one, { id: 1 }), await ask(one, { id: 2 }), await ask(one, {}), await ask(one, {})]).toEqual([
      'ok',
      'ok',
      'ok',
      'ok',
    ])
    // Once for each shape of its variables.
    expect(asked).toBe(2)
    expect([await ask(one, { id: 'x' }), await ask(one, { id: 'x' })]).toEqual(['invalid', 'invalid'])
    expect(asked).toBe(4)
    for (const wrong of [long('{nothing}'), long('{notesCollection(first:-1){edges{node{id}}}}')]) {
      asked = 0
      expect([await ask(wrong), await ask(wrong), await ask(wrong)]).toEqual(['invalid', 'invalid', 'invalid'])
      expect(asked).toBe(1)
    }
  })
})
