-- Responses, what was said in them, and keys. SERIAL and BYTES stand for each database's own types.

-- A lane is a row of turns, each behind the one before. A branch is a lane of its own that begins behind a turn of another.
CREATE TABLE lanes (
  lane SERIAL,
  parent_lane BIGINT,      -- with parent_position: the turn behind which it begins; null: it begins by itself
  parent_position BIGINT,
  conversation TEXT        -- the conversation whose items it holds; only that may add to it
);
CREATE INDEX lanes_parent ON lanes (parent_lane);

-- What is large or shared, once for each owner: the forms of response objects, images.
CREATE TABLE blobs (
  blob SERIAL,
  hash BYTES NOT NULL UNIQUE,
  data BYTES NOT NULL
);

-- A response, or items that were added to a conversation by themselves (status 'items').
CREATE TABLE turns (
  turn SERIAL,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  lane BIGINT NOT NULL REFERENCES lanes (lane),
  position BIGINT NOT NULL, -- goes on counting in a branch, so that a whole path is in its order
  parent TEXT,              -- what the client said it continues
  created_at BIGINT NOT NULL,
  status TEXT NOT NULL,     -- OpenAI's words; or 'deleted', 'items'
  background BIGINT NOT NULL,
  inputs BIGINT NOT NULL,   -- how many of its items are input; the others are output
  input_tokens BIGINT,
  output_tokens BIGINT,
  form BIGINT REFERENCES blobs (blob), -- the response object with null for what is its own
  fields BYTES,             -- what is its own, as a JSON object
  CHECK (form IS NOT NULL OR status IN ('items', 'deleted'))
);
CREATE UNIQUE INDEX turns_place ON turns (lane, position);
CREATE INDEX turns_form ON turns (form);

CREATE TABLE items (
  turn BIGINT NOT NULL,
  number BIGINT NOT NULL,
  name BIGINT,              -- a hash of owner and id, where the item has an id; not unique
  gone BIGINT,              -- taken out of its conversation
  data BYTES,               -- the item's JSON; null: it is in the blob
  blob BIGINT REFERENCES blobs (blob),
  CHECK (data IS NOT NULL OR blob IS NOT NULL)
);
CREATE UNIQUE INDEX items_place ON items (turn, number);
CREATE INDEX items_name ON items (name) WHERE name IS NOT NULL;
CREATE INDEX items_blob ON items (blob) WHERE blob IS NOT NULL;

CREATE TABLE conversations (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  metadata BYTES NOT NULL,
  lane BIGINT NOT NULL,
  head BIGINT NOT NULL,     -- the position of its last turn; -1: none yet
  held_by TEXT,             -- the process that answers in it now, and until when that is believed
  held_until BIGINT
);
CREATE UNIQUE INDEX conversations_lane ON conversations (lane);

-- The events of background responses, in the bytes that clients get.
CREATE TABLE events (
  turn BIGINT NOT NULL,
  first BIGINT NOT NULL,    -- the sequence_number of the first
  count BIGINT NOT NULL,
  data BYTES NOT NULL
);
CREATE UNIQUE INDEX events_place ON events (turn, first);

-- Background responses that have not ended: what was asked, and which process is on it.
CREATE TABLE runs (
  turn BIGINT PRIMARY KEY,
  request BYTES NOT NULL,
  next BIGINT NOT NULL,     -- the sequence_number of the next event
  conversation TEXT,
  held_by TEXT NOT NULL,
  held_until BIGINT NOT NULL
);

CREATE TABLE keys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  hash BYTES NOT NULL UNIQUE, -- SHA-256; the key itself is nowhere
  created_at BIGINT NOT NULL,
  revoked_at BIGINT,
  models TEXT NOT NULL,       -- patterns, separated by spaces; empty: all
  per_minute BIGINT NOT NULL, -- 0: as many as there are
  at_once BIGINT NOT NULL
);
