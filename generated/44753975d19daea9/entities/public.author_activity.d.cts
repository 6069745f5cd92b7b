import type { EntityBuilder } from '../builder.cjs'

declare namespace entity {
  /** A row of "public"."author_activity" as it prints in JSON, by SQL column name. */
  export interface AuthorActivityRow {
    readonly 'author_id': string | null;
    readonly 'month': string | null;
    readonly 'post_count': number | null;
    readonly 'word_count': number | null;
    readonly 'view_count': string | null;
    readonly 'average_rating': string | null;
  }
}

/** SQL builders of "public"."author_activity". */
declare const entity: EntityBuilder<
  'author_id' | 'month' | 'post_count' | 'word_count' | 'view_count' | 'average_rating',
  never
>
export = entity
