select * from {{ source('collab', 'annotations') }}
