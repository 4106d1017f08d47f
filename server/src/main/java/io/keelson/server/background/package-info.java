/** Repeated work in the background. */
@NullMarked
package io.keelson.server.background;

import org.jspecify.annotations.NullMarked;
