import { defineAction } from './define.ts'

/** catalograph_auth.refresh_marks: the known use of a session's refresh tokens (spec/auth.md 7). */

/** The mark of a token in a column or parameter, as in access tokens (spec/auth.md 3.5). */
export const markIn = (token: string): string => `left(encode(sha256(convert_to(${token}, 'UTF8')), 'hex'), 8)`

/** An access token of a refresh token is in use; one that is older than the live token changes nothing. */
export const noteUse = defineAction<[sessionId: string, mark: string]>(
  'auth.refresh-marks.use',
  `insert into catalograph_auth.refresh_marks as m (session_id, used)
  select t.session_id, $2::text from auth.refresh_tokens t
  where t.session_id = $1::uuid and t.revoked is not true and ${markIn('t.token')} = $2::text
  on conflict (session_id) do update set used = excluded.used where m.used is distinct from excluded.used`,
)

/** The live token of a session was issued once more, because the first answer may have been lost. */
export const noteHandedAgain = defineAction<[sessionId: string, token: string]>(
  'auth.refresh-marks.hand-again',
  `insert into catalograph_auth.refresh_marks (session_id, handed_again) values ($1, ${markIn('$2::text')})
  on conflict (session_id) do update set handed_again = excluded.handed_again`,
)
