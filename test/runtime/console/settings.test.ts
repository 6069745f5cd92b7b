import { describe, expect, it } from 'vitest'
import { showSettings, textOfValue } from '../../../runtime/console/admin/settings.ts'
import { authSettingKeys, type AuthSettingName } from '../../../runtime/auth/settings/setting-keys.ts'
import { groupSettings } from '../../../runtime/console/page/panels/setting-groups.ts'
import { draftOf, valueOf } from '../../../runtime/console/page/panels/setting-text.ts'

const settings = showSettings({
  redirect_allow_list: 'https://a.example/**,https://{b,c}.example',
  session_timebox: '60',
})

describe('settings in the dashboard', () => {
  it('are each shown once, but for one that has a single value', () => {
    const shown = groupSettings(settings).flatMap((group) => group.settings.map(({ name }) => name))
    const editable = Object.keys(authSettingKeys).filter((name) => name !== 'otp_length')
    expect(shown.sort()).toEqual(editable.sort())
  })

  it('that are not edited would be sent unchanged', () => {
    for (const setting of settings.filter(({ secret, value }) => !secret && value !== null)) {
      const text = textOfValue(valueOf(setting, draftOf(setting)))
      const parsed = authSettingKeys[setting.name].parse(text ?? '')
      const shown = showSettings({ [setting.name]: text ?? '' }).find(({ name }) => name === setting.name)
      expect([setting.name, parsed.kind, shown?.value]).toEqual([setting.name, 'value', setting.value])
    }
  })

  it('show nothing of a secret, and ask for the default where a field is emptied that needs something', () => {
    const byName = new Map(settings.map((setting) => [setting.name, setting]))
    const of = (name: AuthSettingName) => byName.get(name) ?? expect.fail(name)
    expect(draftOf(of('google_secret'))).toBe('')
    expect([valueOf(of('site_url'), ' '), valueOf(of('jwt_exp'), ''), valueOf(of('google_client_id'), '')]).toEqual([
      null,
      null,
      '',
    ])
  })
})
