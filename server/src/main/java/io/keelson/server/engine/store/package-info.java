/**
 * The store of runs: package-private table classes, and the one commit message that writes a batch. No other package
 * writes these tables.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A write that touches another number of rows than expected is an error, and the view is loaded again. SQL raises
 * it ({@code RowSetStatement.ofEach}, {@code ofAll}), because Java would see the count only after {@code COMMIT}.
 * <li>Transactions lock runs in id order. Two transactions with different orders deadlock.
 * <li>The driver splits a message in front of a statement whose answer may be long, and sends its own {@code BEGIN}
 * separately; {@code BatchCommitTest} counts messages.
 * <li>Indexes on state tables: an index with a changing column, even in its predicate, costs a third of the throughput
 * (ADR 4).
 * <li>PostgreSQL keeps a generic plan from when tables were empty. The committer's connections turn off the scans that
 * are wrong later. Elsewhere a condition that must not choose the index is written {@code (…) is true}.
 * <li>Conditions that are not leakproof ({@code coalesce} over columns, {@code jsonb} operators) never choose an index
 * behind row-level security; {@code case} does. Put casts and look-ups of a condition into a
 * {@code with … as materialized}.
 * <li>A run has two rows. {@code run_heads} changes with every commit; tokens, cost and state columns of
 * {@code orchestration_runs} are updated when the state or a task count changes. Readers take version, steps, tokens
 * and cost from the head.
 * <li>Tokens and cost in the row of an open task are those of its last state change. Readers use {@code TaskUsage}
 * instead.
 * <li>Events are append-only, and written in packs ({@code EventPack}). Event ids become visible out of order: readers
 * across runs use {@code FeedWatermark}, and no transaction writes events first.
 * <li>NUL and lone surrogates are legal in JSON text and refused by {@code jsonb}: outputs pass through
 * {@code SafeText}.
 * </ul>
 */
@NullMarked
package io.keelson.server.engine.store;

import org.jspecify.annotations.NullMarked;
