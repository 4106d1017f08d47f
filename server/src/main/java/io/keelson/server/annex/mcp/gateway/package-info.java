/**
 * The tools' side of the gateway: programs of steps list and call tools over the Model Context Protocol, with the token of their lease.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A token is checked at each request: its lease may have ended since the last one.
 * <li>An error of JSON-RPC does not stop a program: its client gives it to the model as the tool's result.
 * <li>A call is its tool and its arguments. Members of {@code _meta} differ between executions.
 * </ul>
 */
@NullMarked
package io.keelson.server.annex.mcp.gateway;

import org.jspecify.annotations.NullMarked;
