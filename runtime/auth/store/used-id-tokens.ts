import { createHash } from 'node:crypto'
import { statement, type RunStatement } from '../../db/pool/statements.ts'

/** catalograph_auth.used_id_tokens: presented ID tokens, until they expire (spec/auth.md 4.7). */

const insert = statement<object>(
  'auth.used-id-tokens.insert',
  `insert into catalograph_auth.used_id_tokens (token_hash, expires_at) values ($1, to_timestamp($2))
  on conflict do nothing returning 1`,
)

/** False for a token that was used before. Only its signed text counts: a signature may be written in many ways. */
export async function useIdToken(run: RunStatement, token: string, expires: number): Promise<boolean> {
  const signed = token.slice(0, token.lastIndexOf('.'))
  return (await run(insert, [createHash('sha256').update(signed).digest(), expires])).length > 0
}
