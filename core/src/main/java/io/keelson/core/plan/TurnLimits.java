package io.keelson.core.plan;

import java.util.Map;

/**
 * Bounds of an agent's work on a task, over all turns of an attempt; 0 if absent.
 *
 * @param calls of tools that may be executed
 * @param callsByTool the same for single tools, by their names
 * @param tokens after which no further turn begins
 */
public record TurnLimits(int calls, Map<String, Integer> callsByTool, long tokens) {

    public static final TurnLimits NONE = new TurnLimits(0, Map.of(), 0);

    public TurnLimits {
        callsByTool = Map.copyOf(callsByTool);
    }
}
