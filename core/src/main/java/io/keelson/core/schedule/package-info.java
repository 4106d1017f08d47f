/** When schedules are due: cron expressions in a time zone, what was missed, and what overlaps. */
@NullMarked
package io.keelson.core.schedule;

import org.jspecify.annotations.NullMarked;
