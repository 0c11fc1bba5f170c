select * from {{ source('collab', 'user_versions') }}
