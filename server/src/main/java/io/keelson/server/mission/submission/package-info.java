/**
 * Submits runs of HTTP requests and schedules, under limits and credits; admits bulk retries under the same limits;
 * prepares child runs, whose budgets their parents decide.
 */
@NullMarked
package io.keelson.server.mission.submission;

import org.jspecify.annotations.NullMarked;
