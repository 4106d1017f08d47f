package io.keelson.server.app;

import java.util.Arrays;
import java.util.Optional;

/**
 * Every variable that Keelson reads, with its default as text. The names are used in the environment and in the file
 * that {@code KEELSON_CONFIG} names; docs/reference/configuration.md lists them.
 */
public enum Setting {
    KEELSON_DATA_DIR("~/.keelson", "folder for the embedded database, artifacts, the API key and the server's address"),
    KEELSON_CONFIG("", "file with settings, `NAME=value` on each line; environment variables take precedence"),
    KEELSON_HTTP_HOST("127.0.0.1", "address that the server listens on"),
    KEELSON_HTTP_PORT("7331", "port that the server listens on; 0 selects a free one"),
    KEELSON_HTTP_CONNECTIONS("4096",
            "connections that the server keeps open at a time, from 16; when all are in use, it "
                    + "closes idle ones to accept new ones"),
    KEELSON_REQUEST_TIMEOUT_SECONDS("20",
            "seconds in which the head of a request, and each further 1 KiB per second of "
                    + "its body, must arrive, from 1 to 300"),
    KEELSON_DATABASE_URL("", "PostgreSQL 15 or newer, `postgresql://user:password@host:port/database`; "
            + "empty: an embedded PostgreSQL in the data folder"),
    KEELSON_DATABASE_CONNECTIONS("16",
            "connections to the database that requests (one half) and background tasks (the other half) use at a time, "
                    + "from 4 to 1000; commits and notifications use four more"),
    KEELSON_URL("", "server that the command line uses; empty: the one of the data folder"),
    KEELSON_API_KEY("", "API key that the command line sends; empty: the one of the data folder"),
    KEELSON_BOOTSTRAP_KEY("",
            "first key of the default workspace, with all scopes, as `keelson keys generate` makes it; the same for all "
                    + "servers of a database. With it no key is created in the data folder"),
    KEELSON_BOOTSTRAP_KEY_FILE("", "file that contains the bootstrap key, instead of `KEELSON_BOOTSTRAP_KEY`"),
    KEELSON_BOOTSTRAP_KEY_DAYS("90",
            "lifetime of the bootstrap key in days, from the first start with it; 0: unlimited"),
    KEELSON_ALLOWED_FOLDERS("", "folders that file tools and processes may use, separated by `:` (`;` on Windows); "
            + "relative paths in a mission are relative to the first; empty: none"),
    KEELSON_ALLOWED_PROGRAMS("git", "programs that `process.run` may start, separated by commas; `none` for none"),
    KEELSON_ALLOW_PRIVATE_ADDRESSES("false",
            "whether `http.request` and webhooks may reach loopback and private networks"),
    KEELSON_EXECUTOR_SLOTS("128",
            "steps of built-in tools that this server executes at a time, but for those that wait; 0: none"),
    KEELSON_WAITING_SLOTS("2000",
            "steps of `http.request` that this server executes at a time; 0: none"),
    KEELSON_MODEL_CALLS("64", "requests to models that this server has under way at a time; 0: none"),
    KEELSON_RUN_COMPUTE_SECONDS("120",
            "computing time in seconds for the expressions, templates, schemas and patterns of a run on this "
                    + "server, from 1 to 86400"),
    KEELSON_LEASE_SECONDS("30",
            "seconds without a heartbeat after which a step is given to another worker; the same on all "
                    + "servers of a database"),
    KEELSON_CHAINS("on",
            "`on`: consecutive steps of tools without effects, built in or of workers that name them, are executed before "
                    + "a commit records the first one's end; `off`: each step is committed before the next one begins"),
    KEELSON_CHAIN_MS("20",
            "the results of the first so many milliseconds of a chain have one commit, with the creation of a new run, from 0 to "
                    + "1000; the creation waits for at most 20"),
    KEELSON_ARTIFACTS("",
            "place of artifacts: `s3://bucket/prefix` for an object store (docs/operate/object-stores.md), the same on all "
                    + "servers of a database; empty: the folder `artifacts` in the data folder"),
    KEELSON_S3_ENDPOINT("", "address of the object store, such as `https://s3.example:9000`; empty: Amazon's"),
    KEELSON_S3_REGION("", "region of the bucket; empty: `AWS_REGION`, and `us-east-1` with an endpoint"),
    KEELSON_S3_PATH_STYLE("auto",
            "whether requests name the bucket in the path instead of the host: `true`, `false`, or `auto` (with an "
                    + "endpoint)"),
    KEELSON_S3_ACCESS_KEY("", "id of the access key of the object store; empty: the credentials of the environment"),
    KEELSON_S3_SECRET_KEY("", "secret of that access key"),
    KEELSON_S3_SECRET_KEY_FILE("", "file that contains the secret, instead of `KEELSON_S3_SECRET_KEY`"),
    KEELSON_S3_ENCRYPTION("",
            "encryption by the object store: `AES256`, `aws:kms` or `aws:kms=KEY`; empty: the bucket's default"),
    KEELSON_ARTIFACT_LINKS("0",
            "seconds for which a link to an artifact in the object store works, from 0 to 3600; 0: the server sends the "
                    + "content itself"),
    KEELSON_ARTIFACT_MAX_MIB("10240", "maximum size of one artifact in MiB, from 1 to 10240"),
    KEELSON_RUN_ARTIFACTS_MAX_MIB("10240", "maximum size of all artifacts of a run in MiB, from 1 to 1048576"),
    KEELSON_ARTIFACT_RETENTION_DAYS("30",
            "days from the end of its run after which an artifact is deleted, unless its step sets another time"),
    KEELSON_STATUS_DOCUMENTS("false",
            "whether this server writes status documents (`runs/<run_id>/status.json`) to the artifact store"),
    KEELSON_EVENTS_HOT_DAYS("30", "days from the end of their run after which events move to the archive table"),
    KEELSON_EVENTS_ARCHIVE_DAYS("180",
            "days from the end of their run after which archived events move to files in the artifact store"),
    KEELSON_ARCHIVE_AFTER("off",
            "days from the end of a run after which its rows move to the artifact store (docs/operate/archive.md), from 2 to "
                    + "36500; `off`: they stay in the database"),
    KEELSON_ARCHIVE_DELETE_AFTER("off",
            "days from the end of a run after which it is deleted from the archive, more than `KEELSON_ARCHIVE_AFTER`; `off`: "
                    + "archived runs stay"),
    KEELSON_TRIGGER_DELIVERY_DAYS("7",
            "days after which the deliveries of triggers are deleted, with their bodies and the keys that identify them"),
    KEELSON_INITIAL_CREDITS("1000", "credits that the default workspace receives once, at the first start; 0: none"),
    KEELSON_SECRET_KEY("",
            "key that encrypts secrets, 32 bytes in Base64 (`openssl rand -base64 32`), the same for all "
                    + "servers of one database; empty: the one in the data folder, created at the first start"),
    KEELSON_SECRET_KEYS_PREVIOUS("",
            "former keys, separated by commas; at start, their secrets are re-encrypted"),
    KEELSON_PROVIDER_URL("",
            "provider of deployments and orders (docs/guide/commands.md); empty: simulated in the database"),
    KEELSON_PROVIDER_TOKEN("", "bearer token for the provider"),
    KEELSON_PROVIDER_IDEMPOTENT("true",
            "whether the provider executes requests with the same `Idempotency-Key` once; if not, a request that may "
                    + "have arrived is not repeated"),
    KEELSON_PROVIDER_TIMEOUT_SECONDS("20", "time limit of a call to the provider in seconds, from 1 to 300"),
    KEELSON_COMMAND_TYPES("",
            "further command types, each a name with a dot and its URL, separated by commas: `crm.note=https://crm.example/notes`, "
                    + "followed by ` idempotent` where a repeated request has no further effect"),
    KEELSON_MODELS("",
            "file with the models that this server calls (docs/guide/models.md), the same on all servers of a database; "
                    + "empty: none"),
    KEELSON_MCP_SERVERS("",
            "file with the commands that workspaces may start MCP servers with (docs/guide/mcp.md), the same on all servers "
                    + "of a database; empty: none"),
    KEELSON_RABBITMQ_URL("",
            "RabbitMQ broker that tells workers of their work (docs/operate/rabbitmq.md), `amqp://user:password@host:port/vhost`, or "
                    + "`amqps:` for TLS; the same for all servers of a database, and for `keelson worker`; empty: workers poll"),
    KEELSON_RABBITMQ_URL_FILE("", "file that contains the broker's URL, instead of `KEELSON_RABBITMQ_URL`"),
    KEELSON_RABBITMQ_REPEAT_SECONDS("30",
            "seconds after which a broker's message about work that is still unclaimed is sent again, from 1 to 3600; twice as "
                    + "long after each further message, one hour at most"),
    KEELSON_PARK_SECONDS("45",
            "seconds after which the program of a step is ended whose call over `/gateway/mcp` waits for a person, from 1 to 600; "
                    + "its worker does so at the next heartbeat, and starts it again with the answer. Many clients give up after 60 s"),
    KEELSON_PUBLIC_URL("",
            "address at which browsers find the server behind a proxy, such as `https://keelson.example`; "
                    + "empty: the one it listens on"),
    KEELSON_FOUR_EYES("",
            "workspaces in which the submitter of a run cannot approve for it (docs/guide/inbox.md), separated by commas; `*`: all"),
    KEELSON_TWO_PEOPLE("",
            "workspaces in which two people have to approve each question of new runs (docs/guide/approvals.md), separated by commas; "
                    + "`*`: all"),
    KEELSON_OIDC_ISSUER("",
            "OpenID provider at which people sign in to the dashboard (docs/operate/sign-in.md), as its tokens name it; the same on "
                    + "all servers of a database; empty: sign-in by keys alone"),
    KEELSON_OIDC_CLIENT_ID("", "id of this installation at the provider"),
    KEELSON_OIDC_CLIENT_SECRET("", "its secret; empty: a public client"),
    KEELSON_OIDC_CLIENT_SECRET_FILE("", "file that contains the secret, instead of `KEELSON_OIDC_CLIENT_SECRET`"),
    KEELSON_OIDC_SCOPES("openid profile email",
            "scopes that a sign-in requests; with `offline_access`, many providers renew the session's tokens"),
    KEELSON_OIDC_GROUPS_CLAIM("groups", "claim with the groups of a person"),
    KEELSON_OIDC_NAME_CLAIM("preferred_username", "claim with the name of a person, for events and the audit log"),
    KEELSON_OIDC_ROLES("",
            "roles of groups, separated by commas: `GROUP=WORKSPACE:ROLE`, with `*` for every workspace, and the roles `viewer`, "
                    + "`operator`, `approver` and `admin`"),
    KEELSON_TOKEN_AUDIENCE("",
            "audience of the tokens of services that the API accepts in place of keys (docs/operate/sign-in.md#services); empty: none"),
    KEELSON_OIDC_SERVICES("",
            "roles of services at `KEELSON_OIDC_ISSUER`, separated by commas: `SUBJECT=WORKSPACE:ROLE`, with the roles of people and "
                    + "`worker`"),
    KEELSON_KUBERNETES_ISSUER("", "issuer of the tokens of service accounts, as the cluster names it; empty: none"),
    KEELSON_KUBERNETES_KEYS("",
            "file or address of the cluster's keys (`/openid/v1/jwks`); empty: the address in the description of the issuer"),
    KEELSON_KUBERNETES_ACCOUNTS("",
            "roles of service accounts, separated by commas: `NAMESPACE/NAME=WORKSPACE:ROLE`"),
    KEELSON_SMTP_HOST("",
            "mail server for notifications of people (docs/operate/mail.md), the same on all servers of a database; empty: no mail"),
    KEELSON_SMTP_PORT("587", "its port, such as 587 with `starttls` and 465 with `tls`"),
    KEELSON_SMTP_TLS("starttls",
            "encryption of the connection: `starttls` (required before anything is sent), `tls` (from the beginning) or `none` (for a "
                    + "mail server on this machine alone)"),
    KEELSON_SMTP_USER("", "user at the mail server; empty: none"),
    KEELSON_SMTP_PASSWORD("", "the user's password"),
    KEELSON_SMTP_PASSWORD_FILE("", "file that contains the password, instead of `KEELSON_SMTP_PASSWORD`"),
    KEELSON_SMTP_FROM("", "address of the sender of mail, such as `keelson@example.com`"),
    KEELSON_SMTP_AUTHORITIES("",
            "file with the certificates (PEM) of the authorities that the mail server's certificate is checked against; empty: those of "
                    + "the JVM"),
    KEELSON_ANSWER_LINK_HOURS("72",
            "hours for which the link in a notification answers its question (docs/guide/notifications.md), from 1 to 720"),
    KEELSON_TRACES_GENAI("off",
            "whether spans of models, agents and calls follow OpenTelemetry's conventions for generative AI "
                    + "(docs/reference/traces.md): `off` or `latest`"),
    KEELSON_METRICS_ACCESS("loopback",
            "access to `/metrics` without a key: `loopback` (programs on this machine), `open` (all) or "
                    + "`key` (none; a key with the scope `operator` is always accepted)"),
    KEELSON_DASHBOARD("true", "whether the server serves the dashboard below `/ui/` (docs/guide/dashboard.md)"),
    KEELSON_WEB_DIR("", "folder with the dashboard's files, for work on them; empty: those in the jar"),
    KEELSON_LOG_FORMAT("text", "`text` or `json`, one line per entry, on standard error"),
    KEELSON_LOG_LEVEL("info", "`error`, `warn`, `info` or `debug`");

    private final String defaultText;
    private final String meaning;

    Setting(String defaultText, String meaning) {
        this.defaultText = defaultText;
        this.meaning = meaning;
    }

    /** The default of the variable; empty if absent. */
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
