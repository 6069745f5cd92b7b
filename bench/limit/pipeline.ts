import type pg from 'pg'
import { serialize } from 'pg-protocol'

/**
 * The minimum request to Postgres: the setting of role and claims and one statement, both prepared, in one write with
 * one Sync, on one of pg's pooled connections. The answer is the only column of the only row, unchanged.
 */
export interface Question {
  readonly name: string
  readonly text: string
  readonly values: readonly (string | null)[]
}

const setting: Omit<Question, 'values'> = {
  name: 'set',
  text: `select where set_config('role', $1, true) is not null
    and set_config('request.jwt.claims', $2, true) is not null`,
}

type Prepared = Set<string>
const prepared = new WeakMap<pg.PoolClient, Prepared>()

const messages = (names: Prepared, questions: readonly Question[]): Buffer =>
  Buffer.concat([
    ...questions.flatMap(({ name, text, values }) => {
      const parse = names.has(name) ? [] : [serialize.parse({ name, text, types: [] })]
      names.add(name)
      return [...parse, serialize.bind({ statement: name, values: [...values] }), serialize.execute()]
    }),
    serialize.sync(),
  ])

/** In the form that pg takes queries which write themselves. */
const submittable = (bytes: Buffer, resolve: (answer: string) => void, reject: (error: Error) => void) => {
  let answer = ''
  return {
    submit: (connection: pg.Connection) => void connection.stream.write(bytes),
    handleRowDescription: () => undefined,
    handleDataRow: ({ fields }: { readonly fields: readonly (string | null)[] }) => {
      answer = fields[0] ?? answer
    },
    handleCommandComplete: () => undefined,
    handleReadyForQuery: () => resolve(answer),
    // A failed statement makes the benchmark worthless; nothing is repaired.
    handleError: reject,
  }
}

/** Runs as that role with those claims; resolves with the JSON of Postgres. */
export const createAsk =
  (pool: pg.Pool) =>
  async (role: string, claims: string, question: Question): Promise<string> => {
    const client = await pool.connect()
    const names: Prepared = prepared.get(client) ?? new Set()
    prepared.set(client, names)
    try {
      const bytes = messages(names, [{ ...setting, values: [role, claims] }, question])
      return await new Promise<string>((resolve, reject) => client.query(submittable(bytes, resolve, reject)))
    } finally {
      client.release()
    }
  }
