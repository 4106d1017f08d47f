/**
 * The commit path: commands are queued, decided and written in batches, one transaction per batch.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A view in memory may be stale. No reply is sent from a view that neither a write nor a read has proved
 * current.
 * </ul>
 */
@NullMarked
package io.keelson.server.engine.commit;

import org.jspecify.annotations.NullMarked;
