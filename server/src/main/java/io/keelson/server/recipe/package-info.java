/** Missions that are kept to be run again, in versions. */
@NullMarked
package io.keelson.server.recipe;

import org.jspecify.annotations.NullMarked;
