package io.keelson.server.outlet.backup;

import org.jspecify.annotations.Nullable;

/** A backup or a restore that cannot go on. The message names the remedy. */
public final class BackupException extends RuntimeException {

    /** Stable names. */
    public enum Code {
        /** The folder holds a finished backup or other files. */
        BACKUP_FOLDER_NOT_EMPTY,
        /** Another process writes to the folder. */
        BACKUP_IN_PROGRESS,
        /** The folder has no finished backup. */
        BACKUP_INCOMPLETE,
        /** A file of the backup is missing or has changed. */
        BACKUP_DAMAGED,
        /** A newer Keelson made the backup. */
        BACKUP_NEWER,
        /** An unreleased build with another schema made the backup. */
        BACKUP_UNRELEASED,
        /** The folder cannot be read or written. */
        BACKUP_FOLDER_UNUSABLE,
        /** The database has no schema of Keelson. */
        BACKUP_NO_SCHEMA,
        /** The target has data, or the restore of another backup has begun in it. */
        RESTORE_TARGET_NOT_EMPTY,
        /** Another process restores to the same database. */
        RESTORE_IN_PROGRESS,
        /** The database ended a backup or a restore; the next call continues. */
        BACKUP_INTERRUPTED,
        /** An artifact store failed during a move of artifacts; the next call continues. */
        ARTIFACTS_MOVE_INTERRUPTED,
        /** The source of a move of artifacts lacks files of records, or their digests differ; nothing was removed. */
        ARTIFACTS_MOVE_INCOMPLETE,
        /** The restored rows differ from the backup. */
        RESTORE_DIFFERS,
        /** The restored ledger is that of the backup, and its books are wrong. */
        LEDGER_WRONG
    }

    private static final long serialVersionUID = 1L;

    private final Code code;

    BackupException(Code code, String message) {
        this(code, message, null);
    }

    BackupException(Code code, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    public Code code() {
        return code;
    }
}
