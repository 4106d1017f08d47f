package io.keelson.core.run;

import java.time.Duration;
import java.util.Set;

/**
 * What a worker elsewhere wants to go on with when it hands in a result: the next step of the same task, which it then
 * holds from the same commit on.
 *
 * @param holder who hands in the result; gets nothing unless it also held the lease
 * @param tools those that it serves
 * @param lease how long the next lease lasts without a heartbeat
 */
public record NextStepRequest(String holder, Set<String> tools, Duration lease) {

    public NextStepRequest {
        tools = Set.copyOf(tools);
    }

    public boolean keeps(String laneHolder, String tool) {
        return laneHolder.equals(holder) && tools.contains(tool);
    }
}
