/**
 * Work for remote workers: claims by long poll, leases, heartbeats, results and uploads.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>Where a workspace or a tool is limited, only the claim counts, under the workspace's advisory lock.
 * {@code LocalCapacity.Limits} lists the limits. Nothing may start that was not claimed (ADR 12).
 * </ul>
 */
@NullMarked
package io.keelson.server.engine.dispatch;

import org.jspecify.annotations.NullMarked;
