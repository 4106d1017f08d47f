/** The environment of measurements: PostgreSQL, the contenders' processes, and other use of the processors. */
@NullMarked
package io.keelson.bench.lab;

import org.jspecify.annotations.NullMarked;
