import type { AuthSettings } from './setting-keys.ts'

/** Settings that would make every user an administrator (spec/auth.md 1). */

type AdminSettings = Pick<AuthSettings, 'jwt_default_role' | 'admin_roles'>

export interface RoleFault {
  readonly name: keyof AdminSettings
  readonly problem: string
}

/** The roles that any caller can have. */
const rolesOfEverybody: readonly string[] = ['anon', 'authenticated']

/** The roles that bypass policies, whatever the setting says. */
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

/** The settings without such values, which were stored manually, or by an older version. */
export function withoutRoleFaults<S extends AdminSettings>(settings: S): S {
  const role = rolesOfAdministrators.includes(settings.jwt_default_role) ? 'authenticated' : settings.jwt_default_role
  const admins = settings.admin_roles.filter((admin) => admin !== role && !rolesOfEverybody.includes(admin))
  return { ...settings, jwt_default_role: role, admin_roles: admins }
}
