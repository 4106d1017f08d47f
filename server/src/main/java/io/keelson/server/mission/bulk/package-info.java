/**
 * Bulk commands: jobs that apply one command to every run of a filter, in batches.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A batch is stored before its first run receives the command, and each command has an idempotency key: after a
 * crash the same runs receive it, and a retry that failed again is not retried again.
 * </ul>
 */
@NullMarked
package io.keelson.server.mission.bulk;

import org.jspecify.annotations.NullMarked;
