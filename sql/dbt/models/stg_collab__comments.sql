select * from {{ source('collab', 'comments') }}
