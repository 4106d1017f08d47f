/**
 * State of runs for other systems, and of the installation.
 *
 * <table>
 * <caption>Packages</caption>
 * <tr><td>{@code backup}<td>backups of the installation, and their restore
 * <tr><td>{@code board}<td>the work board and reports
 * <tr><td>{@code notice}<td>messages for people, in the forms of Slack, Teams and mail
 * <tr><td>{@code statusdoc}<td>status documents of runs in the artifact store
 * <tr><td>{@code webhook}<td>endpoints, deliveries from the event feed, sending under a lease
 * </table>
 */
@NullMarked
package io.keelson.server.outlet;

import org.jspecify.annotations.NullMarked;
