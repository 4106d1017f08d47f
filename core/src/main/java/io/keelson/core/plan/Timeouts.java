package io.keelson.core.plan;

import java.time.Duration;

/**
 * Maximum durations. Time without a live engine node does not count.
 *
 * @param pending a run that no worker has picked up; it fails
 * @param running a run at work, without the time in which it was paused or only waited (people, times, signals, runs);
 *                it fails
 * @param paused a run that is not resumed; it is cancelled
 * @param resuming a run that does not start again after a resume; it fails
 * @param retrying a run whose new attempt does not begin, beyond the attempt's own delay; it fails
 * @param agent an agent at work; it fails
 * @param task one attempt of a task
 * @param stall a running task with nothing in progress
 * @param assign an assigned task that does not start; it is queued again
 * @param verify an output without a verdict; a person is asked
 * @param heartbeat a run all of whose workers are silent, where the run's rules let it fail then
 * @param providerWait a step whose executors find a system busy, since the first of them in an attempt; it fails
 */
public record Timeouts(Duration pending, Duration running, Duration paused, Duration resuming, Duration retrying,
        Duration agent, Duration task, Duration stall, Duration assign, Duration verify, Duration heartbeat,
        Duration providerWait) {

    public static final Timeouts DEFAULT = new Timeouts(Duration.ofHours(24), Duration.ofHours(24),
            Duration.ofDays(7), Duration.ofMinutes(5), Duration.ofHours(24), Duration.ofHours(6), Duration.ofHours(1),
            Duration.ofMinutes(5), Duration.ofMinutes(2), Duration.ofMinutes(3), Duration.ofSeconds(60),
            Duration.ofHours(1));
}
