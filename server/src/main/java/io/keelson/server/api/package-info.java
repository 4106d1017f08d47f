/**
 * Routes and pages for clients and browsers. No SQL and no rules.
 *
 * <table>
 * <caption>Packages</caption>
 * <tr><td>{@code http}<td>routes by resource, streams, the published OpenAPI
 * <tr><td>{@code picture}<td>the layout of a run's graph, the stretches of its timeline: pure
 * <tr><td>{@code view}<td>saved views of lists
 * <tr><td>{@code web}<td>the dashboard: page, modules and styles, served as files
 * </table>
 */
@NullMarked
package io.keelson.server.api;

import org.jspecify.annotations.NullMarked;
