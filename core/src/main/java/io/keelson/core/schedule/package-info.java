/** Due times of schedules: cron expressions in a time zone, missed times, overlaps. */
@NullMarked
package io.keelson.core.schedule;

import org.jspecify.annotations.NullMarked;
