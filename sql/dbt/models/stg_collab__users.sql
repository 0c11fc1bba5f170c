select * from {{ source('collab', 'users') }}
