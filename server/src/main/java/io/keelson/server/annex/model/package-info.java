/**
 * Models that the server calls itself: requests, answers and errors in the terms of Keelson. {@code wire} translates them
 * to the protocols of providers, {@code registry} has the operator's configuration, {@code call} sends requests under
 * limits and prices, {@code turn} takes turns of agents, {@code gateway} serves programs of steps, {@code coordination} has the planner and the judge, {@code wiring} the module.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A request's worst case is held before it is sent, and its digest is stored, so that a crash neither exceeds a limit
 * nor hides a charge.
 * <li>Without configured models no class of {@code call}, {@code turn} and {@code wire} is loaded: a server starts faster.
 * <li>Tools of a model call the tools that were added before theirs: {@code ModelModule} is the last in the list of modules.
 * <li>Texts of people, tools and models are data: {@code DataBlock} marks them.
 * </ul>
 */
@NullMarked
package io.keelson.server.annex.model;

import org.jspecify.annotations.NullMarked;
