import type { EntityBuilder } from '../builder.cjs'

declare namespace entity {
  /** A row of "public"."categories" as it prints in JSON, by SQL column name. */
  export interface CategoryRow {
    readonly 'id': number;
    readonly 'parent_id': number | null;
    readonly 'slug': string;
    readonly 'name': string;
    readonly 'position': number;
  }
}

/** SQL builders of "public"."categories". */
declare const entity: EntityBuilder<
  'id' | 'parent_id' | 'slug' | 'name' | 'position',
  never
>
export = entity
