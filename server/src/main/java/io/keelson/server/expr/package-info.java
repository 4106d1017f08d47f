/** Expressions: jq in {@code ${ }} over a run's scope, bounded in time, depth and output. */
@NullMarked
package io.keelson.server.expr;

import org.jspecify.annotations.NullMarked;
