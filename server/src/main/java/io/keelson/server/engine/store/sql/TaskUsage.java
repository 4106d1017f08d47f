package io.keelson.server.engine.store.sql;

/**
 * SQL for the use of a task {@code t}. An open task's own row is written only when the task itself changes, so its use
 * is the sum over its steps. A task with {@code repeat} has no steps: its row has the use of its ended rounds.
 */
public final class TaskUsage {
    public static final String TOKENS =
            used("least(coalesce(sum(s.tokens), t.tokens_used), 2147483647)::integer", "tokens_used");
    /** In credits. */
    public static final String COST = used("coalesce(sum(s.cost), t.cost)", "cost");

    private TaskUsage() {}

    private static String used(String ofSteps, String ofTask) {
        return """
                case when t.started_at is not null and t.completed_at is null
                    then (select %s from orchestration_steps s where s.task_id = t.id)
                    else t.%s end""".formatted(ofSteps, ofTask);
    }
}
