/** The work queue, the registry of nodes and workers, heartbeats and leases. */
@NullMarked
package io.keelson.server.run.queue;

import org.jspecify.annotations.NullMarked;
