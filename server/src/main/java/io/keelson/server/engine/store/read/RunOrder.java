package io.keelson.server.engine.store.read;

import java.util.Locale;

/** Sort orders of lists of runs, besides their age. */
public enum RunOrder {
    NAME("n.title"), STATE("n.state"), COST("n.credits_charged_before + k.credits_charged"),
    PROGRESS("n.tasks_completed::float / greatest(n.task_count, 1)"),
    DURATION(
            "coalesce(n.duration_ms, (extract(epoch from clock_timestamp() - n.started_at) * 1000)::bigint - n.ended_ms)"),
    UPDATED_AT("k.updated_at");

    private final String sql;

    RunOrder(String sql) {
        this.sql = sql;
    }

    /** @param name with a minus before it for the reverse */
    public static RunOrder of(String name) {
        return valueOf(name.replace("-", "").toUpperCase(Locale.ROOT));
    }

    String sql(boolean reverse) {
        return sql + (reverse ? " desc nulls last" : " asc nulls last");
    }
}
