/**
 * Backups of an installation: all tables from one snapshot, and the files of runs, in a folder; and the way back.
 *
 * <ul>
 * <li>{@link BackupFolder} has the layout, which {@code docs/reference/backup-format.md} documents. A folder without
 * {@code backup.json} is unfinished.
 * <li>The migration files name the tables ({@link SchemaTables}), so that a new table is in the next backup.
 * <li>A restore keeps its state in the table {@code keelson_restore} of its target: a restore that was killed continues, and no
 * server starts before it has ended.
 * </ul>
 */
@NullMarked
package io.keelson.server.outlet.backup;

import org.jspecify.annotations.NullMarked;
