package io.keelson.server.tenant.workspace;

import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A workspace's limits. A limit without an entry is unlimited.
 *
 * @param byName the limits' names, a tool's as {@code tool:NAME} or {@code tool_per_minute:NAME}, a model's likewise
 */
public record Limits(Map<String, BigDecimal> byName) {

    /** Runs that have not ended. */
    public static final String OPEN_RUNS = "open_runs";
    /** Tasks at work, each with a step of its own or several where they are parallel. */
    public static final String STEPS = "steps";
    /** Runs created within any minute. */
    public static final String RUNS_PER_MINUTE = "runs_per_minute";
    /** Bytes of artifacts. */
    public static final String STORAGE_BYTES = "storage_bytes";
    /** Steps that begin within any minute, retries included. */
    public static final String STEPS_PER_MINUTE = "steps_per_minute";
    /** Requests with any one key. */
    public static final String REQUESTS_PER_MINUTE = "requests_per_minute";

    /** Credits that runs may reserve and spend in a calendar month of UTC. */
    public static final String USD_PER_MONTH = "usd_per_month";

    public static final Limits NONE = new Limits(Map.of());

    /** Begins the name of the limit of one tool's steps at a time. */
    public static final String TOOL = "tool:";

    /** Begins the name of the limit of one model's steps at a time. */
    public static final String MODEL = "model:";

    /** Begins the name of the limit of one tool's steps within any minute. */
    public static final String TOOL_PER_MINUTE = "tool_per_minute:";

    /** Begins the name of the limit of one model's steps within any minute. */
    public static final String MODEL_PER_MINUTE = "model_per_minute:";

    /** Begins the name of the limit of the tokens of one model's requests within any minute. */
    public static final String MODEL_TOKENS_PER_MINUTE = "model_tokens_per_minute:";

    /** A workspace's limits as a column of that name, in a query where the workspace's id is this. */
    public static String column(String workspaceId) {
        return "array(select l.name || '=' || l.most from workspace_limits l where l.workspace_id = " + workspaceId
                + ") as limits";
    }

    public static Limits of(ResultSet row) throws SQLException {
        Map<String, BigDecimal> limits = new TreeMap<>();
        for (Object each : (Object[]) row.getArray("limits").getArray()) {
            String text = String.valueOf(each);
            int end = text.lastIndexOf('=');
            limits.put(text.substring(0, end), new BigDecimal(text.substring(end + 1)).stripTrailingZeros());
        }
        return limits.isEmpty() ? NONE : new Limits(limits);
    }

    public Limits {
        byName = Map.copyOf(byName);
    }

    /** A limit that is a whole number; null for no limit. */
    public @Nullable Long of(String name) {
        BigDecimal limit = byName.get(name);
        return limit == null ? null : limit.longValueExact();
    }

    /** In credits; null for no limit. */
    public @Nullable BigDecimal usdPerMonth() {
        return byName.get(USD_PER_MONTH);
    }
}
