create index on posts (author_id);
-- Equality of enums is not leakproof: under row-level security no index on status would be used (manual 41.5).
create index on posts (created_at desc, id);
create index on posts (featured_at);
create index on comments (post_id, id);
create index on comments (author_id);
