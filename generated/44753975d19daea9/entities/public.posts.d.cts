import type { EntityBuilder } from '../builder.cjs'

declare namespace entity {
  /** A row of "public"."posts" as it prints in JSON, by SQL column name. */
  export interface PostRow {
    readonly 'id': number;
    readonly 'author_id': string;
    readonly 'editor_id': string | null;
    readonly 'category_id': number | null;
    readonly 'slug': string;
    readonly 'title': string;
    readonly 'body': string;
    readonly 'status': 'DRAFT' | 'IN_REVIEW' | 'PUBLISHED' | 'ARCHIVED' | (string & {});
    readonly 'keywords': readonly (string | null)[];
    readonly 'metadata': string;
    readonly 'word_count': number;
    readonly 'view_count': string;
    readonly 'rating': string | null;
    readonly 'published_at': string | null;
    readonly 'created_at': string;
    readonly 'updated_at': string;
  }
}

/** SQL builders of "public"."posts". */
declare const entity: EntityBuilder<
  'id' | 'author_id' | 'editor_id' | 'category_id' | 'slug' | 'title' | 'body' | 'status' | 'keywords' | 'metadata' | 'word_count' | 'view_count' | 'rating' | 'published_at' | 'created_at' | 'updated_at',
  '["public","comment_count"]' | '["public","excerpt"]' | '["public","related_posts"]'
>
export = entity
