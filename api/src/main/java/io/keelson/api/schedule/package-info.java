/** Schedules and their times. */
@NullMarked
package io.keelson.api.schedule;

import org.jspecify.annotations.NullMarked;
