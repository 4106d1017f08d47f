/**
 * Missions in YAML or JSON, read into a plan. All problems are reported at once, with JSON pointers. No access to the
 * store.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>The roster is read once, when a plan is read ({@code AgentAssignment}). The choice is in the stored plan, in
 * the task's policy and in the input of its turns; decisions read no roster.
 * </ul>
 */
@NullMarked
package io.keelson.server.mission.plan;

import org.jspecify.annotations.NullMarked;
