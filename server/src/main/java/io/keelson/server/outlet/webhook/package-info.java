/**
 * Webhooks: endpoints, deliveries created from the feed, and their sending (Standard Webhooks).
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A delivery's row is its lease. A result is recorded only under the epoch of its claim, with the endpoint's
 * row locked. Adding a delivery updates that row in the same transaction ({@code due_at}); otherwise the endpoint
 * is not polled.
 * </ul>
 */
@NullMarked
package io.keelson.server.outlet.webhook;

import org.jspecify.annotations.NullMarked;
