import type { TokenSlot } from '../store/one-time-tokens.ts'

export interface TemplateTexts {
  readonly subject: string
  readonly html: string
}

interface KindRow extends TemplateTexts {
  /** The reason in the words of the refusal. */
  readonly failure: string
  /** Mails of one group to one address have a minimum interval (spec/auth.md 4.11): those that share a slot. */
  readonly cooldown: TokenSlot | 'email_change'
  /** Whether the owner may replace it. */
  readonly changeable: boolean
}

const buttonStyle = 'display:inline-block;padding:10px 18px;background:black;color:white'

const foot = `<p>This mail was sent on behalf of <a href="{{ .SiteURL }}">{{ .SiteURL }}</a>.
If you did not ask for it, ignore it.</p>`

const page = (title: string, why: string, button: string): string => `<h2>${title}</h2>
<p>${why}</p>
<p><a href="{{ .ConfirmationURL }}" style="${buttonStyle}">${button}</a></p>
<p>If the button does not work, open this address:<br><a href="{{ .ConfirmationURL }}">{{ .ConfirmationURL }}</a></p>
<p>Or type this code: <strong>{{ .Token }}</strong></p>
${foot}
`

/** Every kind of mail (spec/auth.md 9.1), with the name of its template. To add one, add a row. */
export const mailKinds = {
  confirmation: {
    subject: 'Confirm your address',
    html: page('Confirm your address', 'Somebody signed up with {{ .Email }}.', 'Confirm'),
    failure: 'Error sending confirmation email',
    cooldown: 'confirmation',
    changeable: true,
  },
  recovery: {
    subject: 'Set a new password',
    html: page('Set a new password', 'A new password was asked for, for {{ .Email }}.', 'Set a new password'),
    failure: 'Error sending recovery email',
    cooldown: 'recovery',
    changeable: true,
  },
  magic_link: {
    subject: 'Your sign-in link',
    html: page('Sign in', 'Somebody wants to sign in as {{ .Email }}.', 'Sign in'),
    failure: 'Error sending magic link email',
    cooldown: 'recovery',
    changeable: true,
  },
  invite: {
    subject: 'You are invited',
    html: page('You are invited', '{{ .Email }} is invited to {{ .SiteURL }}.', 'Accept the invitation'),
    failure: 'Error sending invite email',
    cooldown: 'confirmation',
    changeable: true,
  },
  email_change: {
    subject: 'Confirm the change of your address',
    html: page('Confirm the change of your address', 'The account shall have the address {{ .NewEmail }}.', 'Confirm'),
    failure: 'Error sending email change email',
    cooldown: 'email_change',
    changeable: true,
  },
  reauthentication: {
    subject: 'Your code: {{ .Token }}',
    html: `<h2>Confirm that it is you</h2>
<p>Type this code: <strong>{{ .Token }}</strong></p>
${foot}
`,
    failure: 'Error sending reauthentication email',
    cooldown: 'reauthentication',
    changeable: false,
  },
} as const satisfies Readonly<Record<string, KindRow>>

export type MailKind = keyof typeof mailKinds

export const templateKinds: readonly MailKind[] = (Object.keys(mailKinds) as readonly MailKind[]).filter(
  (kind) => mailKinds[kind].changeable,
)

export function isTemplateKind(name: string): name is MailKind {
  return (templateKinds as readonly string[]).includes(name)
}
