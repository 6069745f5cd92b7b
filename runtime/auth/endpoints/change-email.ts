import type { RunStatement } from '../../db/statements.ts'
import type { UserCall } from '../call.ts'
import { refuse } from '../errors.ts'
import type { Send } from '../mails/mailer.ts'
import type { AuthTools } from '../tools.ts'

/** What PUT /user does with a new address, inside its transaction; the user is locked (section 5.4). */
export async function changeEmail(
  _run: RunStatement,
  _send: Send,
  _call: UserCall,
  _tools: AuthTools,
  _email: string,
): Promise<void> {
  throw refuse('validation_failed', 'The address of an account cannot be changed')
}
