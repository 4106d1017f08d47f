package io.keelson.core.decide;

import io.keelson.core.lifecycle.AgentState;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** An agent in one attempt of a run: the tasks that share its name, and its slots for them. */
public final class AgentRow {
    private final UUID id;
    private final int number;
    private final @Nullable String name;

    AgentState state = AgentState.PENDING;
    /** Number of times it has started, from 1. */
    int attempt = 1;
    /** True from a task's final failure until the tasks that exist for this case have ended and the agent fails. */
    boolean failing;
    /** True when it failed and the run continued without it. */
    boolean failureIgnored;
    /** Due time of the agent's next attempt; null while no attempt is due. */
    @Nullable Instant nextRunAt;
    /** When its current attempt began, moved on by the time in which its run was paused. */
    @Nullable Instant begunAt;
    @Nullable Instant startedAt;
    @Nullable Instant completedAt;

    /** Ready tasks that wait for one of this agent's slots, in the order in which they became ready. */
    final Deque<TaskRow> ready = new ArrayDeque<>();
    /** Tasks that hold a slot. */
    int slotsTaken;
    int tasks;
    int tasksOpen;
    int tasksFailed;
    int tasksSkipped;
    int tasksCancelled;

    /** @param name null for the run's default agent */
    public AgentRow(UUID id, int number, @Nullable String name) {
        this.id = id;
        this.number = number;
        this.name = name;
    }

    /** True while the agent counts against the run's limit of concurrent agents. */
    boolean atWork() {
        return slotsTaken > 0;
    }

    /** Restores stored values; only the loader of views calls it. */
    public AgentRow restore(AgentState state, @Nullable Instant startedAt, @Nullable Instant completedAt) {
        this.state = state;
        this.startedAt = startedAt;
        this.completedAt = completedAt;
        return this;
    }

    /** Restores stored values of the failure policy; only the loader of views calls it. */
    public AgentRow restorePolicy(int attempt, boolean failing, boolean failureIgnored, @Nullable Instant nextRunAt,
            @Nullable Instant begunAt) {
        this.attempt = attempt;
        this.failing = failing;
        this.failureIgnored = failureIgnored;
        this.nextRunAt = nextRunAt;
        this.begunAt = begunAt;
        return this;
    }

    public UUID id() {
        return id;
    }

    /** Position in the order in which the plan first names the agents, from 1. */
    public int number() {
        return number;
    }

    public @Nullable String name() {
        return name;
    }

    public AgentState state() {
        return state;
    }

    /** True for the agent that runs the tasks which the engine added to the plan. */
    boolean system() {
        return SystemTasks.AGENT.equals(name);
    }

    /** Number of times it has started within the run's attempt, from 1. */
    public int attempt() {
        return attempt;
    }

    /** True from a task's final failure until the tasks that exist for this case have ended and the agent fails. */
    public boolean failing() {
        return failing;
    }

    /** True when it failed and the run continued without it. */
    public boolean failureIgnored() {
        return failureIgnored;
    }

    /** Due time of the agent's next attempt; null while no attempt is due. */
    public @Nullable Instant nextRunAt() {
        return nextRunAt;
    }

    /** When its current attempt began, moved on by the time in which its run was paused; null before. */
    public @Nullable Instant begunAt() {
        return begunAt;
    }

    public int tasks() {
        return tasks;
    }

    public @Nullable Instant startedAt() {
        return startedAt;
    }

    public @Nullable Instant completedAt() {
        return completedAt;
    }
}
