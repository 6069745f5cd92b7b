import { statement, type RunStatement } from '../../db/pool/statements.ts'
import type { Parsed } from '../../settings/parsers.ts'
import { authSettingKeys, type AuthSettingKey, type AuthSettingName } from './setting-keys.ts'

/** Changes of settings by the owner's tools; every process sees a change within a second, see load.ts. */

const writeSetting = statement<{ readonly name: string }>(
  'auth.settings.write',
  `insert into catalograph_auth.settings as s (name, value) values ($1, $2)
  on conflict (name) do update set value = excluded.value, updated_at = now() where s.value <> excluded.value
  returning name`,
)

const writeFirstSetting = statement<{ readonly name: string }>(
  'auth.settings.write-first',
  'insert into catalograph_auth.settings (name, value) values ($1, $2) on conflict (name) do nothing returning name',
)

const removeSetting = statement<{ readonly name: string }>(
  'auth.settings.remove',
  'delete from catalograph_auth.settings where name = $1 returning name',
)

const listSettings = statement<{ readonly name: string; readonly value: string }>(
  'auth.settings.list',
  'select name, value from catalograph_auth.settings order by name',
)

const unboundRole = statement<object>(
  'auth.settings.unbound-role',
  'select from pg_catalog.pg_roles where rolname = $1 and (rolsuper or rolbypassrls)',
)

/** Whether a database role bypasses policies. */
export const isUnboundRole = async (run: RunStatement, role: string): Promise<boolean> =>
  (await run(unboundRole, [role])).length > 0

/** Stores a setting's text. Returns the fault of a wrong text, which is not stored. */
export async function setSetting(run: RunStatement, name: AuthSettingName, text: string): Promise<Parsed<unknown>> {
  const key: AuthSettingKey<unknown> = authSettingKeys[name]
  const parsed = key.parse(text)
  if (parsed.kind === 'value') await run(writeSetting, [name, text])
  return parsed
}

/** Stores texts of settings that the owner has never set; others stay. The texts are ours and must be valid. */
export async function setFirstSettings(
  run: RunStatement,
  texts: Readonly<Partial<Record<AuthSettingName, string>>>,
): Promise<void> {
  for (const [name, text] of Object.entries(texts)) await run(writeFirstSetting, [name, text])
}

/** Resets a setting to its default. */
export async function resetSetting(run: RunStatement, name: AuthSettingName): Promise<void> {
  await run(removeSetting, [name])
}

/** The stored settings, secrets included: show none of them. */
export async function storedSettings(run: RunStatement): Promise<Readonly<Record<string, string>>> {
  return Object.fromEntries((await run(listSettings)).map(({ name, value }) => [name, value]))
}
