/** Tools, models, workers, MCP servers and commands to external systems. */
@NullMarked
package io.keelson.api.work;

import org.jspecify.annotations.NullMarked;
