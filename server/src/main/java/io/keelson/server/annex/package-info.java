/**
 * Parts that a server can do without, one package each. Only {@code app}, and the command line above it, imports an annex, and no
 * annex imports another.
 *
 * <table>
 * <caption>Packages</caption>
 * <tr><td>{@code effect}<td>commands to external systems, at most once per key; provider adapters
 * <tr><td>{@code postgres}<td>the embedded PostgreSQL
 * </table>
 */
@NullMarked
package io.keelson.server.annex;

import org.jspecify.annotations.NullMarked;
