package io.keelson.server;

import java.util.Arrays;
import java.util.Optional;

/**
 * Every variable that Keelson reads, with its default as text. The same names stand in the environment and in the file
 * that {@code KEELSON_CONFIG} names; docs/reference/configuration.md lists them.
 */
public enum Setting {
    KEELSON_DATA_DIR("~/.keelson", "folder for the embedded database, artifacts, the API key and the server's address"),
    KEELSON_CONFIG("", "file with settings, `NAME=value` on each line; the environment wins over it"),
    KEELSON_HTTP_HOST("127.0.0.1", "address that the server listens on"),
    KEELSON_HTTP_PORT("7331", "port that the server listens on; 0 takes a free one"),
    KEELSON_HTTP_CONNECTIONS("4096",
            "connections that the server keeps open at a time, from 16; when all are in use, it "
                    + "closes idle ones to accept new ones"),
    KEELSON_REQUEST_TIMEOUT_SECONDS("20",
            "seconds in which the head of a request, and each further 1 KiB per second of "
                    + "its body, must arrive, from 1 to 300"),
    KEELSON_DATABASE_URL("", "PostgreSQL 15 or newer, `postgresql://user:password@host:port/database`; "
            + "empty: an embedded PostgreSQL in the data folder"),
    KEELSON_URL("", "server that the command line talks to; empty: the one of the data folder"),
    KEELSON_API_KEY("", "key that the command line shows to the server; empty: the one of the data folder"),
    KEELSON_BOOTSTRAP_KEY("",
            "first key of the default workspace, with all scopes, as `keelson keys generate` makes it; the same for all "
                    + "servers of a database. With it no key is made in the data folder"),
    KEELSON_BOOTSTRAP_KEY_FILE("", "file that holds it, instead"),
    KEELSON_BOOTSTRAP_KEY_DAYS("90", "days from the first start with it after which it ends; 0 for no end"),
    KEELSON_ALLOWED_FOLDERS("", "folders that file tools and processes may use, separated by `:` (`;` on Windows); "
            + "relative paths in a mission are relative to the first; empty: none"),
    KEELSON_ALLOWED_PROGRAMS("git", "programs that `process.run` may start, separated by commas; `none` for none"),
    KEELSON_ALLOW_PRIVATE_ADDRESSES("false",
            "whether `http.request` and webhooks may reach loopback and private networks"),
    KEELSON_EXECUTOR_SLOTS("128",
            "steps that this server runs at a time with its built-in tools; 0 leaves all to others"),
    KEELSON_RUN_COMPUTE_SECONDS("120",
            "most seconds that the expressions, templates, schemas and patterns of a run compute on this "
                    + "server, from 1 to 86400"),
    KEELSON_LEASE_SECONDS("30",
            "seconds without a heartbeat after which a step is given to another worker; the same on all "
                    + "servers of a database"),
    KEELSON_ARTIFACT_MAX_MIB("10240", "most MiB of one artifact, from 1 to 10240"),
    KEELSON_RUN_ARTIFACTS_MAX_MIB("10240", "most MiB of all artifacts of a run together, from 1 to 1048576"),
    KEELSON_ARTIFACT_RETENTION_DAYS("30",
            "days from the end of its run after which an artifact is removed, unless its step said otherwise"),
    KEELSON_STATUS_DOCUMENTS("false",
            "whether this server keeps `runs/<run_id>/status.json` and what belongs to it beside the artifacts"),
    KEELSON_EVENTS_HOT_DAYS("30", "days from the end of their run after which events move to the archive table"),
    KEELSON_EVENTS_ARCHIVE_DAYS("180",
            "days from the end of their run after which archived events move to files in the artifact store"),
    KEELSON_INITIAL_CREDITS("1000", "credits that the default workspace is given at the first start, once; 0 for none"),
    KEELSON_SECRET_KEY("",
            "key that secrets are sealed under, 32 bytes in Base64 (`openssl rand -base64 32`), the same for all "
                    + "servers of one database; empty: the one in the data folder, made at the first start"),
    KEELSON_SECRET_KEYS_PREVIOUS("",
            "former keys, separated by commas; at start, their secrets are re-encrypted"),
    KEELSON_PROVIDER_URL("",
            "where deployments and orders are made, as docs/guide/commands.md says; empty: on paper, in the database"),
    KEELSON_PROVIDER_TOKEN("", "bearer token that the provider is shown"),
    KEELSON_PROVIDER_IDEMPOTENT("true",
            "whether the provider does once what comes twice under one `Idempotency-Key`; if not, nothing is repeated that "
                    + "may have arrived"),
    KEELSON_PROVIDER_TIMEOUT_SECONDS("20", "seconds that a call of the provider may take, from 1 to 300"),
    KEELSON_COMMAND_TYPES("",
            "further types of commands and where they are sent, separated by commas: `crm.note=https://crm.example/notes`, "
                    + "followed by ` idempotent` where repeating does no harm"),
    KEELSON_METRICS_ACCESS("loopback",
            "access to `/metrics` without a key: `loopback` (programs on this machine), `open` (all) or "
                    + "`key` (none; a key with the scope `operator` is always accepted)"),
    KEELSON_LOG_FORMAT("text", "`text` or `json`, one line per entry, on standard error"),
    KEELSON_LOG_LEVEL("info", "`error`, `warn`, `info` or `debug`");

    private final String defaultText;
    private final String meaning;

    Setting(String defaultText, String meaning) {
        this.defaultText = defaultText;
        this.meaning = meaning;
    }

    /** What holds when the variable is not set; empty for "nothing". */
    public String defaultText() {
        return defaultText;
    }

    /** One phrase in Markdown, for the documentation. */
    public String meaning() {
        return meaning;
    }

    static Optional<Setting> named(String name) {
        return Arrays.stream(values()).filter(setting -> setting.name().equals(name)).findFirst();
    }
}
