/** The measured systems, each in its own JVM, controlled by lines of JSON on standard input. */
@NullMarked
package io.keelson.bench.contender;

import org.jspecify.annotations.NullMarked;
