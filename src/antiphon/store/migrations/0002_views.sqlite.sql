-- For people with a SQL prompt: `sqlite3 state.db 'SELECT * FROM response_items'`. Described in docs/howto/state.md; nothing in the program reads them.
CREATE VIEW responses AS
  SELECT t.id, t.owner, datetime(t.created_at, 'unixepoch') AS created, t.status,
         json_extract(CAST(b.data AS TEXT), '$.model') AS model, t.parent AS previous_response_id, l.conversation,
         t.background = 1 AS background, t.input_tokens, t.output_tokens, t.lane, t.position, CAST(b.data AS TEXT) AS settings, CAST(t.fields AS TEXT) AS fields
  FROM turns t JOIN lanes l ON l.lane = t.lane LEFT JOIN blobs b ON b.blob = t.form
  WHERE t.status NOT IN ('items', 'deleted');

CREATE VIEW response_items AS
  SELECT t.id AS response, t.owner, l.conversation, t.lane, t.position, i.number,
         CASE WHEN i.number < t.inputs THEN 'input' ELSE 'output' END AS part,
         COALESCE(json_extract(CAST(COALESCE(i.data, b.data) AS TEXT), '$.type'), 'message') AS type,
         json_extract(CAST(COALESCE(i.data, b.data) AS TEXT), '$.role') AS role,
         CAST(COALESCE(i.data, b.data) AS TEXT) AS item
  FROM items i JOIN turns t ON t.turn = i.turn JOIN lanes l ON l.lane = t.lane LEFT JOIN blobs b ON b.blob = i.blob;

CREATE VIEW conversation_list AS
  SELECT c.id, c.owner, datetime(c.created_at, 'unixepoch') AS created, CAST(c.metadata AS TEXT) AS metadata,
         (SELECT COUNT(*) FROM turns t WHERE t.lane = c.lane) AS turns
  FROM conversations c;

CREATE VIEW key_list AS
  SELECT id, name, datetime(created_at, 'unixepoch') AS created, datetime(revoked_at, 'unixepoch') AS revoked, models, per_minute, at_once FROM keys;
