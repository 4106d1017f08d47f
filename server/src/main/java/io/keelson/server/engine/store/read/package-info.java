/**
 * Read access to runs for clients: lists, status, explain, inbox, event feed. Never writes.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>Readers leave out rows that were replaced: {@code superseded} tasks, and steps whose {@code task_attempt} is
 * below the task's.
 * <li>Old events are elsewhere: readers use {@code orchestration_events_kept}, and a run's first events may be in
 * an exported file.
 * <li>Indexes know packs of events only: a range of {@code id} or {@code seq} also names the range of {@code pack_id} or
 * {@code pack_seq}, and an order begins with the latter.
 * <li>A deleted run keeps its rows with {@code deleted_at}. A reader by the id of something inside a run must
 * exclude those.
 * </ul>
 */
@NullMarked
package io.keelson.server.engine.store.read;

import org.jspecify.annotations.NullMarked;
