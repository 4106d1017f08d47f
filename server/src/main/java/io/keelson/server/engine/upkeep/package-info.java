/**
 * Background maintenance: expired leases, due timers, stuck joins, lost nodes, concurrency keys, cleaning,
 * notification between nodes.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A run with a concurrency key stays {@code pending} with its tasks created. Only
 * {@code ConcurrencyKeyScheduler} counts and submits {@code Admit}, on one node at a time; the runs' states are the
 * only record.
 * </ul>
 */
@NullMarked
package io.keelson.server.engine.upkeep;

import org.jspecify.annotations.NullMarked;
