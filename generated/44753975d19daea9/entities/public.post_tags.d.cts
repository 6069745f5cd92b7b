import type { EntityBuilder } from '../builder.cjs'

declare namespace entity {
  /** A row of "public"."post_tags" as it prints in JSON, by SQL column name. */
  export interface PostTagRow {
    readonly 'post_id': number;
    readonly 'tag_id': number;
  }
}

/** SQL builders of "public"."post_tags". */
declare const entity: EntityBuilder<
  'post_id' | 'tag_id',
  never
>
export = entity
