/**
 * Runs steps on this node: expressions, tools, artifacts, agents' turns, child runs, timeouts.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>An agent's answer is never evaluated: the input of a call is stored with its {@code ${} escaped.
 * <li>An artifact's bytes and its record are in two places. Bytes are written first and deleted last; a process may
 * die in between, and {@code ArtifactSweeper} cleans up.
 * </ul>
 */
@NullMarked
package io.keelson.server.engine.execute;

import org.jspecify.annotations.NullMarked;
