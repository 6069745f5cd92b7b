import { authOwner } from './auth-schema.ts'

/** Gives `what`, such as `table catalograph_auth.codes`, to the owner of auth, where there is one and we may. */
export const own = (what: string): string => `do $$ begin
    alter ${what} owner to ${authOwner};
  exception
    when undefined_object or insufficient_privilege then null;
  end $$`
