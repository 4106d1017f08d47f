/** Commands of recipes, schedules, agents and secrets. */
@NullMarked
package io.keelson.cli.definitions;

import org.jspecify.annotations.NullMarked;
