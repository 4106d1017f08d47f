/** Keelson's server as its users start it: a process of its own. */
@NullMarked
package io.keelson.bench.server;

import org.jspecify.annotations.NullMarked;
