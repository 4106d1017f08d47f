/** Repeated work in the background. */
@NullMarked
package io.keelson.server.base.background;

import org.jspecify.annotations.NullMarked;
