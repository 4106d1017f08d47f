/**
 * Creates runs for every caller: HTTP requests, schedules, child runs and bulk retries. Limits, credits and fairness
 * are checked here.
 */
@NullMarked
package io.keelson.server.submission;

import org.jspecify.annotations.NullMarked;
