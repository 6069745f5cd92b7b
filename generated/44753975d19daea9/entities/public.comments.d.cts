import type { EntityBuilder } from '../builder.cjs'

declare namespace entity {
  /** A row of "public"."comments" as it prints in JSON, by SQL column name. */
  export interface CommentRow {
    readonly 'id': number;
    readonly 'post_id': number;
    readonly 'parent_id': number | null;
    readonly 'author_id': string;
    readonly 'body': string;
    readonly 'created_at': string;
  }
}

/** SQL builders of "public"."comments". */
declare const entity: EntityBuilder<
  'id' | 'post_id' | 'parent_id' | 'author_id' | 'body' | 'created_at',
  never
>
export = entity
