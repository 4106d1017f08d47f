/** Metrics of a server for operators: counted in memory, served in the format of Prometheus. */
@NullMarked
package io.keelson.server.app.metrics;

import org.jspecify.annotations.NullMarked;
