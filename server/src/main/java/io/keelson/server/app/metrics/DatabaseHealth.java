package io.keelson.server.app.metrics;

import io.keelson.server.base.db.DatabaseState;

/**
 * The condition of the database, and of its backups.
 *
 * @param backupAge age of the latest recorded backup in seconds; NaN without one
 */
public record DatabaseHealth(DatabaseState state, double backupAge) {}
