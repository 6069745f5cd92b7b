import type { EntityBuilder } from '../builder.cjs'

declare namespace entity {
  /** A row of "public"."tags" as it prints in JSON, by SQL column name. */
  export interface TagRow {
    readonly 'id': number;
    readonly 'slug': string;
    readonly 'name': string;
  }
}

/** SQL builders of "public"."tags". */
declare const entity: EntityBuilder<
  'id' | 'slug' | 'name',
  never
>
export = entity
