select * from {{ source('collab', 'organizations') }}
