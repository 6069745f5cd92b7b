import type { EntityBuilder } from '../builder.cjs'

declare namespace entity {
  /** A row of "public"."likes" as it prints in JSON, by SQL column name. */
  export interface LikeRow {
    readonly 'post_id': number;
    readonly 'user_id': string;
    readonly 'created_at': string;
  }
}

/** SQL builders of "public"."likes". */
declare const entity: EntityBuilder<
  'post_id' | 'user_id' | 'created_at',
  never
>
export = entity
