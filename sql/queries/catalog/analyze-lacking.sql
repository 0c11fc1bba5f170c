-- Tells the planner how much it is.
-- Params: none.
analyze import_lacking;
