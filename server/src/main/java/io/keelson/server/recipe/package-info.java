/** Stored missions, in versions. */
@NullMarked
package io.keelson.server.recipe;

import org.jspecify.annotations.NullMarked;
