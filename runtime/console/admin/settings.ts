import { json, type Outcome } from '../../auth/call/call.ts'
import { refuse } from '../../auth/protocol/errors.ts'
import { settingWarnings } from '../../auth/rules/doubtful-settings.ts'
import { settingsOf } from '../../auth/settings/load.ts'
import { storedSettings } from '../../auth/settings/store.ts'
import type { RefusalAnswer, SettingsAnswer } from './answers.ts'
import type { AdminParts, OwnerCall } from './call.ts'
import type * as io from './io.ts'
import { missingFor, saveSettings, type SettingChanges } from './save-settings.ts'
import { showSettings, textOfValue } from './setting-values.ts'
import type { JsonObject } from '../../lib/json.ts'

/** GET /settings */
export async function getSettings(_call: OwnerCall, { tools }: AdminParts): Promise<Outcome> {
  return json(answerOf(await storedSettings(tools.database.run)))
}

function answerOf(stored: Readonly<Record<string, string>>): SettingsAnswer {
  return {
    settings: showSettings(stored),
    google: { missing: missingFor('google', stored) },
    warnings: settingWarnings(settingsOf(stored)),
  }
}

/** PATCH /settings, a JSON merge patch (RFC 7396): null resets a setting to its default. */
export async function patchSettings(
  { body, note }: OwnerCall<typeof io.patchSettings>,
  { tools }: AdminParts,
): Promise<Outcome> {
  const changes = changesOf(body)
  const names = Object.keys(changes).sort().join(' ')
  const saved = await saveSettings(tools.database, changes, note('settings_changed', { settings: names }))
  if (saved.kind === 'saved') return json(answerOf(saved.stored))
  const message = saved.problems.map(({ name, problem }) => `${name} ${problem}`).join('; ')
  return { ...json<RefusalAnswer>({ code: 'validation_failed', message, problems: saved.problems }), status: 422 }
}

function changesOf(body: JsonObject): SettingChanges {
  const entries = Object.entries(body).map(([name, value]): [string, string | null] => {
    const text = textOfValue(value)
    if (text !== undefined) return [name, text]
    throw refuse('validation_failed', 'An item of a list holds a comma outside braces, or a line end')
  })
  return Object.fromEntries(entries)
}
