/** Server-sent events of runs and workspaces, from shared caches. */
@NullMarked
package io.keelson.server.http.streams;

import org.jspecify.annotations.NullMarked;
