/**
 * Keelson as a server of the Model Context Protocol: one route, in both eras of the protocol.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>There are no sessions: each request says all that its answer depends on, so any node answers it.
 * <li>A task of the protocol is a run, and its id is the run's. Nothing else is stored.
 * <li>The route takes any API key. Each tool, resource and task asks for its own scope.
 * <li>Questions of a run are shown as input requests only to keys with the scope {@code approve}.
 * </ul>
 */
@NullMarked
package io.keelson.server.annex.mcp.endpoint;

import org.jspecify.annotations.NullMarked;
