/**
 * Triggers: events from outside that start runs, once for each event.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A delivery is stored with its run's id before its sender is answered, and before the run exists. After a crash the
 * run of that id is submitted again and found.
 * <li>A delivery is decided while the row of its trigger is locked, so a trigger that is deleted or disabled starts nothing
 * once the request that did so is answered.
 * <li>Expressions are evaluated before that lock.
 * <li>Headers with credentials are not stored.
 * </ul>
 */
@NullMarked
package io.keelson.server.annex.trigger;

import org.jspecify.annotations.NullMarked;
