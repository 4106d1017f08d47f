/** Models that the server calls itself. */
@NullMarked
package io.keelson.server.model;

import org.jspecify.annotations.NullMarked;
