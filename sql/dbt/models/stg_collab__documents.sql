select * from {{ source('collab', 'documents') }}
