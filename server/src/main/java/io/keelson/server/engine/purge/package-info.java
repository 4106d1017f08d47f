/** Cancels and deletes everything in workspaces that operators delete, in batches. */
@NullMarked
package io.keelson.server.engine.purge;

import org.jspecify.annotations.NullMarked;
