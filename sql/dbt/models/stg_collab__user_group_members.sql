select * from {{ source('collab', 'user_group_members') }}
