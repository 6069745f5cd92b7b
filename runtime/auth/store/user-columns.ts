/** A column of metadata as an object: imported rows may hold none, or JSON's null (section 13). */
export const objectIn = (column: string): string =>
  `case jsonb_typeof(${column}) when 'object' then ${column} else '{}' end`

/** The columns of a UserRow, for a query in which auth.users is called `u`. */
export const userColumns = `u.id, u.aud, u.role, u.email, u.phone, u.encrypted_password,
    u.email_confirmed_at, u.phone_confirmed_at, u.confirmed_at, u.invited_at, u.confirmation_sent_at,
    u.recovery_sent_at, u.email_change, u.email_change_sent_at, u.email_change_confirm_status, u.phone_change, u.phone_change_sent_at,
    u.reauthentication_sent_at, u.last_sign_in_at, u.raw_app_meta_data, u.raw_user_meta_data,
    u.created_at, u.updated_at, u.banned_until, coalesce(u.banned_until > now(), false) as banned,
    u.deleted_at, u.is_anonymous,
    coalesce((select json_agg(json_build_object(
        'id', i.id, 'provider_id', i.provider_id, 'user_id', i.user_id, 'identity_data', i.identity_data,
        'provider', i.provider, 'last_sign_in_at', i.last_sign_in_at, 'created_at', i.created_at,
        'updated_at', i.updated_at, 'email', i.email) order by i.created_at, i.id)
      from auth.identities i where i.user_id = u.id), '[]') as identities,
    coalesce((select json_agg(json_build_object(
        'id', f.id, 'friendly_name', f.friendly_name, 'factor_type', f.factor_type, 'status', f.status,
        'created_at', f.created_at, 'updated_at', f.updated_at) order by f.created_at, f.id)
      from auth.mfa_factors f where f.user_id = u.id), '[]') as factors`

/** The columns of a SessionRow, for a query in which auth.sessions is called `s`. */
export const sessionColumns = `s.id, s.user_id, s.aal, s.factor_id,
    extract(epoch from now() - s.created_at)::float8 as age,
    coalesce((select json_agg(json_build_object('method', c.authentication_method,
        'timestamp', extract(epoch from c.updated_at)::bigint) order by c.updated_at desc, c.authentication_method)
      from auth.mfa_amr_claims c where c.session_id = s.id), '[]') as amr`
