/** Runs with their tasks, steps, events and attempts. */
@NullMarked
package io.keelson.api.run;

import org.jspecify.annotations.NullMarked;
