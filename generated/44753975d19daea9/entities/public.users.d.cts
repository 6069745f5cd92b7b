import type { EntityBuilder } from '../builder.cjs'

declare namespace entity {
  /** A row of "public"."users" as it prints in JSON, by SQL column name. */
  export interface UserRow {
    readonly 'id': string;
    readonly 'username': string;
    readonly 'first_name': string;
    readonly 'last_name': string;
    readonly 'email': string;
    readonly 'bio': string | null;
    readonly 'website': string | null;
    readonly 'is_staff': boolean;
    readonly 'joined_at': string;
  }
}

/** SQL builders of "public"."users". */
declare const entity: EntityBuilder<
  'id' | 'username' | 'first_name' | 'last_name' | 'email' | 'bio' | 'website' | 'is_staff' | 'joined_at',
  '["public","full_name"]'
>
export = entity
