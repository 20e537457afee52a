-- For people with a SQL prompt: `psql URL -c 'SELECT * FROM response_items'`. Described in docs/howto/state.md; nothing in the program reads them.
-- The type `json` keeps an item as it was spelled; one with \u0000 in a text has no `->>`, so type and role are null there.
CREATE VIEW responses AS
  SELECT t.id, t.owner, to_timestamp(t.created_at) AS created, t.status,
         CASE WHEN position('\u0000' IN convert_from(b.data, 'UTF8')) = 0 THEN convert_from(b.data, 'UTF8')::json ->> 'model' END AS model,
         t.parent AS previous_response_id, l.conversation, t.background = 1 AS background, t.input_tokens, t.output_tokens, t.lane, t.position,
         convert_from(b.data, 'UTF8') AS settings, convert_from(t.fields, 'UTF8') AS fields
  FROM turns t JOIN lanes l ON l.lane = t.lane LEFT JOIN blobs b ON b.blob = t.form
  WHERE t.status NOT IN ('items', 'deleted');

CREATE VIEW response_items AS
  SELECT t.id AS response, t.owner, l.conversation, t.lane, t.position, i.number,
         CASE WHEN i.number < t.inputs THEN 'input' ELSE 'output' END AS part,
         CASE WHEN position('\u0000' IN s.item) = 0 THEN COALESCE(s.item::json ->> 'type', 'message') END AS type,
         CASE WHEN position('\u0000' IN s.item) = 0 THEN s.item::json ->> 'role' END AS role,
         s.item
  FROM items i JOIN turns t ON t.turn = i.turn JOIN lanes l ON l.lane = t.lane LEFT JOIN blobs b ON b.blob = i.blob
  CROSS JOIN LATERAL (SELECT convert_from(COALESCE(i.data, b.data), 'UTF8') AS item) s;

CREATE VIEW conversation_list AS
  SELECT c.id, c.owner, to_timestamp(c.created_at) AS created, convert_from(c.metadata, 'UTF8') AS metadata,
         (SELECT COUNT(*) FROM turns t WHERE t.lane = c.lane) AS turns
  FROM conversations c;

CREATE VIEW key_list AS
  SELECT id, name, to_timestamp(created_at) AS created, to_timestamp(revoked_at) AS revoked, models, per_minute, at_once FROM keys;
