-- Updates the planner's statistics of the staged scopes.
-- Params: none.
analyze import_lacking;
