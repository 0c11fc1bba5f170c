-- Ends the pause that lasts; changes no row without one.
-- Params: none.
update sync.pauses set paused_until = now() where paused_until > now()
