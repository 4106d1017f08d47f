package io.keelson.client;

import java.util.Map;

/**
 * A run's current attempt in every vocabulary.
 *
 * @param circumstance {@code usual}; {@code waits_for_timer} or {@code waits_for_human}: what all open work waits for;
 *            {@code not_begun}: paused before the first step
 * @param contracts by the contract's name
 */
public record RunStates(String runId, int attemptNumber, String circumstance, Words canonical,
        Map<String, Words> contracts) {

    /**
     * One vocabulary's words.
     *
     * @param tasks number of tasks by state; empty where the contract does not speak of tasks
     * @param steps number of steps by state; empty where the contract does not speak of steps
     */
    public record Words(String run, Map<String, Long> tasks, Map<String, Long> steps) {

        public Words {
            tasks = tasks == null ? Map.of() : tasks;
            steps = steps == null ? Map.of() : steps;
        }
    }
}
