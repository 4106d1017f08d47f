/**
 * The Model Context Protocol on the wire: JSON-RPC messages, both eras of the protocol, and a client over processes and HTTP.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>Servers of {@link Mcp#MODERN} know no sessions: each request says its version and its client's capabilities.
 * <li>{@link McpException.Outcome} tells whether a request may have been carried out. Only
 * {@link McpException.Outcome#NOT_SENT} and {@link McpException.Outcome#REFUSED} are safe to repeat.
 * <li>Everything that a server says is data of a stranger: bounded here, judged by the caller.
 * </ul>
 */
@NullMarked
package io.keelson.server.annex.mcp.wire;

import org.jspecify.annotations.NullMarked;
