/**
 * Assembles the engine: local dispatch and claims over the commit path, executors, remote dispatch and maintenance.
 */
@NullMarked
package io.keelson.server.engine;

import org.jspecify.annotations.NullMarked;
