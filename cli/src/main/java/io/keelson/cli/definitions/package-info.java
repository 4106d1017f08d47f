/** Commands of recipes, schedules, agents, MCP servers and secrets. */
@NullMarked
package io.keelson.cli.definitions;

import org.jspecify.annotations.NullMarked;
