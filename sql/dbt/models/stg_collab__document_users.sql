select * from {{ source('collab', 'document_users') }}
