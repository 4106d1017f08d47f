/** The scenarios, one class each. */
@NullMarked
package io.keelson.bench.scenario;

import org.jspecify.annotations.NullMarked;
