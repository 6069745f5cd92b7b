import type { ShownSetting } from '../../admin/call.ts'
import type { AuthSettingName } from '../../../auth/settings/setting-keys.ts'
import { usePageContext } from '../context.tsx'
import { labelOf } from './setting-text.ts'

interface GoogleNotesProps {
  readonly settings: readonly ShownSetting[]
  readonly missing: readonly AuthSettingName[]
}

export function GoogleNotes({ settings, missing }: GoogleNotesProps) {
  const { project } = usePageContext()
  const external = settings.find(({ name }) => name === 'external_url')?.value
  const authUrl = typeof external === 'string' && external !== '' ? external : `${project.url}/auth/v1`
  return (
    <>
      {missing.length > 0 && (
        <p className="notice bad">Google is not offered yet. Missing: {missing.map(labelOf).join(', ')}.</p>
      )}
      <p className="help">
        Register this redirect URI at Google, byte for byte: <code>{`${authUrl}/callback`}</code>
      </p>
    </>
  )
}
