/** Server-sent events of runs and workspaces, from shared caches. */
@NullMarked
package io.keelson.server.api.http.streams;

import org.jspecify.annotations.NullMarked;
