/** Schedules: what runs they make and when, and what became of each of their times. */
@NullMarked
package io.keelson.server.schedule;

import org.jspecify.annotations.NullMarked;
