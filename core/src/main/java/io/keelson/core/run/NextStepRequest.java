package io.keelson.core.run;

import java.time.Duration;
import java.util.Set;

/**
 * A remote worker's request for the next step of the same task with a result; the worker holds that step from the same
 * commit on.
 *
 * @param holder who reports the result; gets nothing unless it also held the lease
 * @param tools that it serves
 * @param lease how long the next lease lasts without a heartbeat
 * @param chained tools without effects, consecutive steps of which it executes one after another
 * @param version of the worker
 */
public record NextStepRequest(String holder, Set<String> tools, Duration lease, Set<String> chained, String version) {

    public NextStepRequest {
        tools = Set.copyOf(tools);
        chained = Set.copyOf(chained);
    }

    public NextStepRequest(String holder, Set<String> tools, Duration lease) {
        this(holder, tools, lease, Set.of(), VersionRule.UNVERSIONED);
    }

    public boolean keeps(String laneHolder, String tool) {
        return laneHolder.equals(holder) && tools.contains(tool);
    }
}
