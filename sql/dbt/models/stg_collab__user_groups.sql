select * from {{ source('collab', 'user_groups') }}
