import type { EntityBuilder } from '../builder.cjs'

declare namespace entity {
  /** A row of "public"."bookmarks" as it prints in JSON, by SQL column name. */
  export interface BookmarkRow {
    readonly 'user_id': string;
    readonly 'post_id': number;
    readonly 'note': string | null;
    readonly 'created_at': string;
  }
}

/** SQL builders of "public"."bookmarks". */
declare const entity: EntityBuilder<
  'user_id' | 'post_id' | 'note' | 'created_at',
  never
>
export = entity
