/**
 * The wiring of a server: {@code Server} creates the parts in order by their constructors and closes them in reverse;
 * {@code Settings} has the configuration.
 *
 * <table>
 * <caption>Packages</caption>
 * <tr><td>{@code metrics}<td>Prometheus metrics
 * <tr><td>{@code trace}<td>OpenTelemetry spans
 * </table>
 */
@NullMarked
package io.keelson.server.app;

import org.jspecify.annotations.NullMarked;
