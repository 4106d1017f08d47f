/**
 * Notices a database that went back: it lacks the latest commits.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A false alarm stops all servers. An event counts as gone only by facts that retention, deletion, a purge, a restart and
 * an ordinary failover leave as they are ({@code KnownEvents}).
 * <li>Events before a lost connection stay until they have been compared once, even if many are committed since.
 * </ul>
 */
@NullMarked
package io.keelson.server.engine.history;

import org.jspecify.annotations.NullMarked;
