-- Tells the planner how many there are.
-- Params: none.
analyze import_documents;
