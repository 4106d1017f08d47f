/**
 * Commands that change external systems: stored first, then sent to a provider adapter, at most once per key. They are tools, and
 * routes of commands, deployments and orders.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A request that may have arrived is repeated only if its adapter is idempotent. Otherwise its outcome is unknown, and a person
 * finds out.
 * <li>An outcome is recorded under the lease's epoch: after a takeover the later holder's outcome counts.
 * <li>A step that is stopped does not abort the request of its command, whose outcome would be lost.
 * <li>Routes of commands handle idempotency keys themselves: the command keeps the key, not the response.
 * </ul>
 */
@NullMarked
package io.keelson.server.annex.effect;

import org.jspecify.annotations.NullMarked;
