/**
 * The work of steps: tools.
 *
 * <table>
 * <caption>Packages</caption>
 * <tr><td>{@code builtin}<td>built-in tools
 * </table>
 */
@NullMarked
package io.keelson.server.work;

import org.jspecify.annotations.NullMarked;
