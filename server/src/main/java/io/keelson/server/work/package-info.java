/**
 * The work of steps: tools.
 *
 * <table>
 * <caption>Packages</caption>
 * <tr><td>{@code builtin}<td>built-in tools
 * <tr><td>{@code mcp}<td>servers of the Model Context Protocol and their tools; {@code .wire}: the protocol and its client
 * </table>
 */
@NullMarked
package io.keelson.server.work;

import org.jspecify.annotations.NullMarked;
