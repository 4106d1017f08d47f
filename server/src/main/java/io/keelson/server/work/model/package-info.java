/**
 * Models that the server calls itself: requests, answers and errors in the terms of Keelson. {@code wire} translates them
 * to the protocols of providers, {@code registry} has the operator's configuration, {@code call} sends requests under
 * limits and prices, {@code turn} takes turns of agents, {@code coordination} has the planner and the judge.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A request's worst case is held before it is sent, and its digest is stored, so that a crash neither exceeds a limit
 * nor hides a charge.
 * <li>Texts of people, tools and models are data: {@code DataBlock} marks them.
 * </ul>
 */
@NullMarked
package io.keelson.server.work.model;

import org.jspecify.annotations.NullMarked;
