select * from {{ source('collab', 'comment_versions') }}
