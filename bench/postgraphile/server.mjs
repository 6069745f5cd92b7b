/**
 * PostGraphile 5 as its documentation sets it up for production: the Amber preset, no GraphiQL, role and claims of a verified
 * token as settings of each transaction. Tokens are verified once and remembered, as in the servers that it is measured with.
 */
import { createHmac, createSecretKey } from 'node:crypto'
import { createServer } from 'node:http'
import { grafserv } from 'postgraphile/grafserv/node'
import { postgraphile } from 'postgraphile'
import { makePgService } from 'postgraphile/adaptors/pg'
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber'

const { DATABASE_URL, DATABASE_OWNER_URL, JWT_SECRET, PORT } = process.env
const secret = createSecretKey(Buffer.from(JWT_SECRET))
const settings = new Map()

const verify = (token) => {
  const [head, payload, signature] = token.split('.')
  const expected = createHmac('sha256', secret).update(`${head}.${payload}`).digest('base64url')
  if (signature !== expected) throw new Error('bad signature')
  const claims = Buffer.from(payload, 'base64url').toString()
  return { role: JSON.parse(claims).role, 'request.jwt.claims': claims }
}

const settingsOf = (authorization) => {
  const known = settings.get(authorization)
  if (known !== undefined) return known
  const made = verify(authorization.slice('Bearer '.length))
  settings.set(authorization, made)
  return made
}

const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  // By default it supports conditions on indexed columns only, and the page filters by a column without one.
  disablePlugins: ['PgIndexBehaviorsPlugin'],
  pgServices: [
    makePgService({
      connectionString: DATABASE_URL,
      superuserConnectionString: DATABASE_OWNER_URL,
      schemas: ['public'],
      poolConfig: { max: 8 },
    }),
  ],
  grafserv: { graphiql: false, watch: false, port: Number(PORT) },
  grafast: {
    explain: false,
    context: ({ node }) => ({ pgSettings: settingsOf(node?.req.headers.authorization ?? '') }),
  },
})

const server = createServer()
await instance.createServ(grafserv).addTo(server)
server.listen(Number(PORT), '127.0.0.1')
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0))
