/** Routes of recipes, schedules, the agent roster and secrets. */
@NullMarked
package io.keelson.server.http.definitions;

import org.jspecify.annotations.NullMarked;
