/** What became of runs as OpenTelemetry traces, for those who ask for them; nothing of it is loaded otherwise. */
@NullMarked
package io.keelson.server.trace;

import org.jspecify.annotations.NullMarked;
