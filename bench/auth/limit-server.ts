import { startLimit } from './limit.ts'

/** The limit as a separate process; PORT and all other input come from the environment. */
const of = (name: string): string => process.env[name] ?? ''

await startLimit({
  port: Number(of('PORT')),
  databaseUrl: of('DATABASE_URL'),
  secret: of('JWT_SECRET'),
  apikey: of('ANON_KEY'),
  storedHash: of('STORED_HASH'),
  poolSize: Number(of('AUTH_POOL_SIZE')),
})
