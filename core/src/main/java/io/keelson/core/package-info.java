/** The rules of Keelson: pure and deterministic, on the JDK only. {@link io.keelson.core.decide.Decider} is the entry. */
@NullMarked
package io.keelson.core;

import org.jspecify.annotations.NullMarked;
