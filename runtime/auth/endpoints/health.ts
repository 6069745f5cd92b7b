import { json, type Outcome } from '../call/call.ts'

/** GET /health (spec/auth.md 4.1). The name is what probes of GoTrue look for; it says nothing of the database. */
export async function health(): Promise<Outcome> {
  return json({ version: 'v1', name: 'GoTrue', description: 'Catalograph speaks the interface of GoTrue' })
}
