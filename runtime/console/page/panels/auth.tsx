import { useCallback } from 'react'
import type { PrepareAnswer, SettingsAnswer, ShownSetting } from '../../admin/call.ts'
import { useAdminAnswer, usePageContext } from '../context.tsx'
import { Answer } from '../parts/controls.tsx'
import type { Result } from '../api.ts'
import { SettingsForm } from './settings-form.tsx'
import { GoogleNotes } from './google-notes.tsx'
import { labelOf } from './setting-text.ts'
import { groupSettings } from './setting-groups.ts'

export function AuthPanel() {
  const [asked, reload] = useAdminAnswer<SettingsAnswer>('admin/v1/settings')
  if (asked.kind === 'refused' && asked.refusal.code === 'auth_not_enabled') return <Unprepared reload={reload} />
  return <Answer asked={asked}>{(value) => <Settings {...value} reload={reload} />}</Answer>
}

/** The tables of auth do not exist yet: they are created here, then auth is enabled. */
function Unprepared({ reload }: { readonly reload: () => void }) {
  const { api } = usePageContext()
  const save = useCallback(
    async (changes: Readonly<Record<string, unknown>>): Promise<Result<unknown>> => {
      const prepared = await api.call<PrepareAnswer>('POST', 'admin/v1/prepare')
      if (prepared.kind === 'refused') return prepared
      return api.call('PATCH', 'admin/v1/settings', { ...changes, auth_enabled: true })
    },
    [api],
  )
  return (
    <>
      <p className="notice">
        <strong>Auth is not prepared in this database.</strong> Enabling it makes the schemas <code>auth</code> and{' '}
        <code>catalograph_auth</code>; nothing else is touched.
      </p>
      <SettingsForm title="Enable auth" settings={[siteUrl]} save={save} saved={reload} act="Prepare and enable" />
    </>
  )
}

const siteUrl: ShownSetting = {
  name: 'site_url',
  type: 'address',
  value: null,
  set: false,
  secret: false,
  help: 'Address of the application, be it in its own scheme: default target of redirects, used in mails.',
}

function Settings({ settings, google, warnings, reload }: SettingsAnswer & { readonly reload: () => void }) {
  const { api } = usePageContext()
  const save = useCallback(
    (changes: Readonly<Record<string, unknown>>) => api.call('PATCH', 'admin/v1/settings', changes),
    [api],
  )
  return (
    <>
      <State settings={settings} />
      {warnings.map(({ name, warning }) => (
        <p key={`${name} ${warning}`} className="notice bad">
          {labelOf(name)} {warning}.
        </p>
      ))}
      <div className="cards">
        {groupSettings(settings).map((group) => (
          <SettingsForm key={group.title} title={group.title} settings={group.settings} save={save} saved={reload}>
            {group.title === 'Google' && <GoogleNotes settings={settings} missing={google.missing} />}
          </SettingsForm>
        ))}
      </div>
    </>
  )
}

const valueOf = (settings: readonly ShownSetting[], name: string): unknown =>
  settings.find((setting) => setting.name === name)?.value

function State({ settings }: { readonly settings: readonly ShownSetting[] }) {
  const { project } = usePageContext()
  const isOn = valueOf(settings, 'auth_enabled') === true && valueOf(settings, 'site_url') !== null
  const facts: readonly (readonly [name: string, fact: string])[] = [
    ['Auth', isOn ? 'enabled' : 'not enabled'],
    ['New accounts', valueOf(settings, 'disable_signup') === true ? 'refused' : 'allowed'],
    ['Guests', valueOf(settings, 'anonymous_enabled') === true ? 'allowed' : 'refused'],
    ['Mails', project.mails === 'kept' ? 'kept in the outbox: no mail server is set' : 'sent'],
    ['Project', project.url],
  ]
  return (
    <dl className="facts" aria-label="State of auth">
      {facts.map(([name, fact]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{fact}</dd>
        </div>
      ))}
    </dl>
  )
}
