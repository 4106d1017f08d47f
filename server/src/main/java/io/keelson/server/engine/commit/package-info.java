/**
 * The commit path: commands are queued, decided and written in batches, one transaction per batch.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A view in memory may be stale. No reply is sent from a view that neither a write nor a read has proved
 * current.
 * <li>A {@code RunView} is not thread-safe. A commit uses only views of runs that {@code CommandQueue} gave it, taken out
 * of {@code ViewCache}; a batch that fails does not put them back.
 * <li>A run's answers are sent before {@code CommandQueue.release}, because its next commit may run in another thread.
 * <li>A view has only the outages up to its load. Each reading of the database's clock also reads the latest outage.
 * </ul>
 */
@NullMarked
package io.keelson.server.engine.commit;

import org.jspecify.annotations.NullMarked;
