/** Routes of runs and their tasks, steps, agents, artifacts, signals, proposals and escalations; bulk commands. */
@NullMarked
package io.keelson.server.api.http.runs;

import org.jspecify.annotations.NullMarked;
