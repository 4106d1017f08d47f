/**
 * State of runs for other systems.
 *
 * <table>
 * <caption>Packages</caption>
 * <tr><td>{@code board}<td>the work board and reports
 * <tr><td>{@code statusdoc}<td>status documents of runs in the artifact store
 * <tr><td>{@code webhook}<td>endpoints, deliveries from the event feed, sending under a lease
 * </table>
 */
@NullMarked
package io.keelson.server.outlet;

import org.jspecify.annotations.NullMarked;
