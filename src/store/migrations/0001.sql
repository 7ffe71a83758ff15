-- Format 1. Released files are never edited; a change is a new file.
-- Times are milliseconds since 1970 UTC. Words are those of tool/lifecycle.rs and store/traces.rs.

CREATE TABLE tool_packages (
    id              TEXT NOT NULL PRIMARY KEY,
    -- The id with `.`, `_` and `-` made alike: no two packages may look alike.
    folded_id       TEXT NOT NULL UNIQUE,
    name            TEXT NOT NULL,
    description     TEXT NOT NULL,
    source          TEXT NOT NULL CHECK (source IN ('managed-project', 'local-directory', 'local-archive', 'registry', 'remote', 'mcp-import')),
    trust           TEXT NOT NULL CHECK (trust IN ('trusted-local', 'verified', 'blocked')),
    enabled_version TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    FOREIGN KEY (id, enabled_version) REFERENCES tool_package_versions (package_id, version) DEFERRABLE INITIALLY DEFERRED
) STRICT;

CREATE TABLE tool_package_versions (
    -- Names the version in tool_package_files, which may have 50 000 rows of it.
    version_key         INTEGER PRIMARY KEY,
    package_id          TEXT NOT NULL REFERENCES tool_packages (id) ON DELETE CASCADE,
    version             TEXT NOT NULL,
    digest              TEXT NOT NULL,
    adapter             TEXT NOT NULL,
    tool_count          INTEGER NOT NULL,
    file_count          INTEGER NOT NULL,
    byte_count          INTEGER NOT NULL,
    source              TEXT NOT NULL CHECK (source IN ('managed-project', 'local-directory', 'local-archive', 'registry', 'remote', 'mcp-import')),
    -- Two versions are of one origin if this is equal.
    origin              TEXT NOT NULL,
    source_path         TEXT,
    source_url          TEXT,
    source_ref          TEXT,
    source_commit       TEXT,
    source_subdirectory TEXT,
    installed_at        INTEGER NOT NULL,
    -- As the package has it. Last, because it may be long.
    manifest            TEXT NOT NULL,
    UNIQUE (package_id, version)
) STRICT;

-- The files of an installed tree and what they looked like when they were written.
CREATE TABLE tool_package_files (
    version_key INTEGER NOT NULL REFERENCES tool_package_versions (version_key) ON DELETE CASCADE,
    path        TEXT NOT NULL,
    sha256      BLOB NOT NULL CHECK (length(sha256) = 32),
    mode        INTEGER NOT NULL,
    size        INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    changed_ns  INTEGER NOT NULL,
    inode       INTEGER NOT NULL,
    PRIMARY KEY (version_key, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_package_tools (
    package_id TEXT NOT NULL,
    version    TEXT NOT NULL,
    tool_name  TEXT NOT NULL,
    position   INTEGER NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (package_id, version, tool_name),
    FOREIGN KEY (package_id, version) REFERENCES tool_package_versions (package_id, version) ON DELETE CASCADE
) STRICT;

CREATE TABLE tool_package_permissions (
    package_id  TEXT NOT NULL,
    version     TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('os-effect', 'spark-capability')),
    permission  TEXT NOT NULL,
    position    INTEGER NOT NULL,
    required    INTEGER NOT NULL CHECK (required IN (0, 1)),
    state       TEXT NOT NULL CHECK (state IN ('pending', 'granted', 'denied')),
    reviewed_at INTEGER,
    CHECK ((state = 'pending') = (reviewed_at IS NULL)),
    PRIMARY KEY (package_id, version, kind, permission),
    FOREIGN KEY (package_id, version) REFERENCES tool_package_versions (package_id, version) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_package_config (
    package_id   TEXT NOT NULL REFERENCES tool_packages (id) ON DELETE CASCADE,
    scope        TEXT NOT NULL CHECK (scope IN ('package', 'tool', 'project', 'agent', 'workflow', 'session')),
    scope_id     TEXT NOT NULL DEFAULT '',
    tool_name    TEXT NOT NULL DEFAULT '',
    name         TEXT NOT NULL,
    secret       INTEGER NOT NULL CHECK (secret IN (0, 1)),
    value        TEXT,
    keystore_ref TEXT,
    -- The origin of the package when the value was given: it is not handed to code of another one.
    origin       TEXT NOT NULL,
    updated_at   INTEGER NOT NULL,
    CHECK ((value IS NOT NULL) = (secret = 0) AND (keystore_ref IS NOT NULL) = (secret = 1)),
    CHECK ((scope_id <> '') = (scope IN ('project', 'agent', 'workflow', 'session'))),
    CHECK ((tool_name <> '') = (scope = 'tool')),
    PRIMARY KEY (package_id, scope, scope_id, tool_name, name)
) STRICT, WITHOUT ROWID;

-- A name once served stays with its tool until the package goes.
CREATE TABLE tool_served_names (
    name       TEXT NOT NULL PRIMARY KEY,
    package_id TEXT NOT NULL REFERENCES tool_packages (id) ON DELETE CASCADE,
    tool_name  TEXT NOT NULL,
    UNIQUE (package_id, tool_name)
) STRICT, WITHOUT ROWID;

-- Every answer to a question, for good: no reference to the package, which may be gone.
CREATE TABLE consents (
    consent_key  INTEGER PRIMARY KEY,
    at           INTEGER NOT NULL,
    command      TEXT NOT NULL,
    subject      TEXT NOT NULL,
    package_id   TEXT,
    version      TEXT,
    answer       TEXT NOT NULL CHECK (answer IN ('yes', 'no')),
    how          TEXT NOT NULL CHECK (how IN ('terminal', 'flag', 'elicitation', 'rule')),
    shown_sha256 TEXT NOT NULL
) STRICT;
CREATE INDEX consents_of_package ON consents (package_id);

-- No reference to the package either: traces outlive it. It is written in every call's path, so it has what a call can
-- afford: word lists in checks made an insert four times as long, an index on the tool half as long again. The words are
-- checked when they are read.
CREATE TABLE tool_invocations (
    invocation_key    INTEGER PRIMARY KEY,
    id                TEXT NOT NULL UNIQUE,
    correlation_id    TEXT NOT NULL,
    source_kind       TEXT NOT NULL,
    source_id         TEXT,
    package_id        TEXT,
    tool_id           TEXT,
    tool_name         TEXT,
    version           TEXT,
    adapter           TEXT,
    session_id        TEXT,
    turn_id           TEXT,
    project_id        TEXT,
    agent_id          TEXT,
    workflow_id       TEXT,
    invocation_source TEXT NOT NULL,
    status            TEXT NOT NULL,
    started_at        INTEGER NOT NULL,
    finished_at       INTEGER,
    duration_ms       INTEGER,
    error_code        TEXT,
    input_sha256      TEXT,
    output_bytes      INTEGER,
    result_archived   INTEGER NOT NULL DEFAULT 0,
    result_truncated  INTEGER NOT NULL DEFAULT 0,
    retry_count       INTEGER NOT NULL DEFAULT 0,
    created_at        INTEGER NOT NULL,
    -- The process that runs it: a file in run/hosts, whose lock is free once it is dead.
    host              TEXT
) STRICT;
