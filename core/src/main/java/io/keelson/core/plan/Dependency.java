package io.keelson.core.plan;

/**
 * An upstream of a task.
 *
 * @param task the upstream's id in the plan
 * @param data true when the upstream's output reaches the task ({@code data}), false for mere ordering
 */
public record Dependency(String task, boolean data) {}
