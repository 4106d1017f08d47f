/** Stored missions, in versions. */
@NullMarked
package io.keelson.server.mission.recipe;

import org.jspecify.annotations.NullMarked;
