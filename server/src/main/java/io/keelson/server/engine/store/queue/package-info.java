/** The work queue, the registry of nodes and workers, heartbeats, leases, and their tokens for the gateway. */
@NullMarked
package io.keelson.server.engine.store.queue;

import org.jspecify.annotations.NullMarked;
