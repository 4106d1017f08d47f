package io.keelson.server.outlet.backup;

/** Receives how far a backup or a restore is. */
@FunctionalInterface
public interface BackupProgress {

    /** For callers that show nothing. */
    BackupProgress NONE = (what, done, all) -> {
    };

    /**
     * @param what {@code tables} or {@code artifacts}
     * @param done bytes of tables, or artifacts
     * @param all an estimate while a backup is written
     */
    void at(String what, long done, long all);
}
