package io.keelson.server.base.db;

import org.jspecify.annotations.Nullable;

/** The database is unusable. The message names the problem and the remedy, and never contains a password. */
public final class DatabaseException extends RuntimeException {

    /** Stable names: scripts and documentation may rely on them. */
    public enum Code {
        /** Another live process holds the data directory. */
        DATA_DIR_IN_USE,
        /** The disk of the data directory has no space left. */
        DATA_DIR_FULL,
        /** The data directory cannot be created or written. */
        DATA_DIR_NOT_WRITABLE,
        /** The data directory was made by another major version of PostgreSQL. */
        DATA_DIR_OTHER_VERSION,
        /** This build or this machine cannot run the embedded PostgreSQL. */
        EMBEDDED_POSTGRES_UNSUPPORTED,
        /** The embedded PostgreSQL did not start; the message ends with its log. */
        EMBEDDED_POSTGRES_FAILED,
        /** The embedded PostgreSQL has ended without being asked to. */
        EMBEDDED_POSTGRES_ENDED,
        /** Every port tried was in use. */
        PORT_UNAVAILABLE,
        /** The database URL cannot be read. */
        DATABASE_URL_INVALID,
        /** No server answers at the URL's host and port, or it no longer does while our server starts. */
        DATABASE_UNREACHABLE,
        /** The server answers but refuses us: wrong user, password or database name, or too few privileges. */
        DATABASE_REFUSED,
        /** The database has another encoding than UTF8. */
        DATABASE_NOT_UTF8,
        /** The database takes no changes: a standby, or made read-only. */
        DATABASE_READ_ONLY,
        /** A pooler in front of the database gives each transaction another session. */
        DATABASE_POOLED,
        /** The server is older than PostgreSQL 15. */
        DATABASE_TOO_OLD,
        /** The schema was made by a newer Keelson. */
        DATABASE_SCHEMA_NEWER,
        /** The schema was made by an unreleased Keelson, whose files were others. */
        DATABASE_SCHEMA_UNRELEASED,
        /** A restore of a backup into the database has begun and has not ended. */
        DATABASE_RESTORE_UNFINISHED,
        /** Tables that others made do not fit; the message names each with what to do. */
        DATABASE_NOT_ADOPTABLE,
        /** A migration failed; the database is as the last successful one left it. */
        DATABASE_MIGRATION_FAILED
    }

    private final Code code;

    public DatabaseException(Code code, String message) {
        this(code, message, null);
    }

    public DatabaseException(Code code, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    public Code code() {
        return code;
    }
}
