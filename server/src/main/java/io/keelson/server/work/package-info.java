/**
 * The work of steps: tools and models.
 *
 * <table>
 * <caption>Packages</caption>
 * <tr><td>{@code builtin}<td>built-in tools
 * <tr><td>{@code mcp}<td>servers of the Model Context Protocol and their tools; {@code .wire}: the protocol and its client
 * <tr><td>{@code model}<td>models that the server calls: {@code .wire}: protocols of providers; {@code .registry}: their configuration; {@code .call}: use by tools; {@code .turn}: turns of agents; {@code .coordination}: planner and judge
 * </table>
 */
@NullMarked
package io.keelson.server.work;

import org.jspecify.annotations.NullMarked;
