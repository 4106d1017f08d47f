/** What is measured: each system in a JVM of its own, told what to do by lines of JSON on its standard input. */
@NullMarked
package io.keelson.bench.contender;

import org.jspecify.annotations.NullMarked;
