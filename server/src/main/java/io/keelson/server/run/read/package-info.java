/**
 * Read access to runs for clients: lists, status, explain, inbox, event feed. Never writes.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>Readers leave out rows that were replaced: {@code superseded} tasks, and steps whose {@code task_attempt} is
 * below the task's.
 * <li>Old events are elsewhere: readers use {@code orchestration_events_kept}, and a run's first events may be in
 * an exported file.
 * <li>A deleted run keeps its rows with {@code deleted_at}. A reader by the id of something inside a run must
 * exclude those.
 * </ul>
 */
@NullMarked
package io.keelson.server.run.read;

import org.jspecify.annotations.NullMarked;
