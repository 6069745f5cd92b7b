import type { Actor, Registration } from '../call/call.ts'
import { signInByMailTo } from './otp.ts'
import { recoverByMail } from './recover.ts'
import { resendChange, resendConfirmation } from './resend.ts'
import type { MailRequestKind } from '../store/mail-requests.ts'
import type { AuthTools } from '../accounts/tools.ts'

type Act = (call: Actor, tools: AuthTools, input: Registration) => Promise<void>

export const mailRequestActs: Readonly<Record<MailRequestKind, Act>> = {
  recovery: recoverByMail,
  'sign-in': signInByMailTo,
  confirmation: resendConfirmation,
  'email-change': resendChange,
}
