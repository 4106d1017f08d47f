/** Traces of runs in OpenTelemetry; not loaded unless configured. */
@NullMarked
package io.keelson.server.app.trace;

import org.jspecify.annotations.NullMarked;
