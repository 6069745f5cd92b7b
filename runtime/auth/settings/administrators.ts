import type { AuthSettings } from './setting-keys.ts'

/** Settings that would make everybody an administrator (spec/auth.md 1). */

type AdminSettings = Pick<AuthSettings, 'jwt_default_role' | 'admin_roles'>

export interface RoleFault {
  readonly name: keyof AdminSettings
  readonly problem: string
}

/** Whom anybody may call themselves. */
const rolesOfEverybody: readonly string[] = ['anon', 'authenticated']

/** Whom policies do not hold, whatever the setting says. */
const rolesOfAdministrators: readonly string[] = ['service_role', 'supabase_admin']

const everybody = 'would make every user an administrator'

export function roleFaults({ jwt_default_role: role, admin_roles: admins }: AdminSettings): readonly RoleFault[] {
  const faults: RoleFault[] = []
  if (rolesOfAdministrators.includes(role)) faults.push({ name: 'jwt_default_role', problem: `${everybody}: ${role}` })
  else if (admins.includes(role)) {
    faults.push({ name: 'jwt_default_role', problem: `${everybody}: admin_roles names ${role}` })
  }
  const open = admins.find((admin) => rolesOfEverybody.includes(admin))
  if (open !== undefined) faults.push({ name: 'admin_roles', problem: `${everybody}: ${open}` })
  return faults
}

/** The settings without what would make everybody one; such values were stored by hand, or by an older version. */
export function withoutRoleFaults<S extends AdminSettings>(settings: S): S {
  const role = rolesOfAdministrators.includes(settings.jwt_default_role) ? 'authenticated' : settings.jwt_default_role
  const admins = settings.admin_roles.filter((admin) => admin !== role && !rolesOfEverybody.includes(admin))
  return { ...settings, jwt_default_role: role, admin_roles: admins }
}
