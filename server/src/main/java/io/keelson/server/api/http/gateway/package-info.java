/** Common parts of the paths below {@code /gateway}: tokens of steps, refusals, equal requests. */
@NullMarked
package io.keelson.server.api.http.gateway;

import org.jspecify.annotations.NullMarked;
