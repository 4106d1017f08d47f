/**
 * The plan of a run: tasks, steps, dependencies and the policies of the run and its tasks. {@code PlanCheck} finds all
 * problems of a plan at once; {@code TriggerRule} decides when a task starts; {@code AgentSelection} scores the roster's
 * agents for a task.
 */
@NullMarked
package io.keelson.core.plan;

import org.jspecify.annotations.NullMarked;
