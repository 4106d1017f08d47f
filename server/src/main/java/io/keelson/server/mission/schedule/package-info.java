/**
 * Schedules: when they are due, the outcome of each scheduled time, the runs they submit.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A scheduled time is stored with its run's id before the run exists. After a crash the same run is submitted
 * again and found. Nothing else tells whether it was created.
 * </ul>
 */
@NullMarked
package io.keelson.server.mission.schedule;

import org.jspecify.annotations.NullMarked;
