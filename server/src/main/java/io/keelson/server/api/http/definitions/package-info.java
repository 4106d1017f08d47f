/** Routes of recipes, schedules, the agent roster and secrets. */
@NullMarked
package io.keelson.server.api.http.definitions;

import org.jspecify.annotations.NullMarked;
