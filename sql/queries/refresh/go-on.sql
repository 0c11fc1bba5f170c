-- Ends the pause of refresh.
-- Params: none.
update sync.refresh_state set paused_since = null, paused_until = null, reason = null where paused_since is not null
