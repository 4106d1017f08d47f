/** The work queue, the registry of nodes and workers, heartbeats and leases. */
@NullMarked
package io.keelson.server.engine.store.queue;

import org.jspecify.annotations.NullMarked;
