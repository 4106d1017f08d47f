/**
 * Models that coordinate a run: the planner and the judge.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>Goals, inputs and outputs are from others. They are between marks of data, and the instructions on them come after
 * them.
 * <li>A model gives marks and plans. The server computes verdicts from marks, and checks plans as it checks a mission's.
 * </ul>
 */
@NullMarked
package io.keelson.server.annex.model.coordination;

import org.jspecify.annotations.NullMarked;
