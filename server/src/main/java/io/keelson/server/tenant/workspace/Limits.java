package io.keelson.server.tenant.workspace;

import io.keelson.api.tenant.LimitName;
import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A workspace's limits. A limit without an entry is unlimited.
 *
 * @param byName by their whole names
 */
public record Limits(Map<String, BigDecimal> byName) {

    public static final Limits NONE = new Limits(Map.of());

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
    public @Nullable Long of(LimitName name) {
        BigDecimal limit = byName.get(name.text());
        return limit == null ? null : limit.longValueExact();
    }

    /** Limits that are whole numbers, by the tool, model or agent that each is of. */
    public Map<String, Long> each(LimitName name) {
        Map<String, Long> each = new TreeMap<>();
        String prefix = name.of("");
        byName.forEach((whole, most) -> {
            if (whole.startsWith(prefix)) {
                each.put(whole.substring(prefix.length()), most.longValueExact());
            }
        });
        return each;
    }

    /** In credits; null for no limit. */
    public @Nullable BigDecimal usdPerMonth() {
        return byName.get(LimitName.USD_PER_MONTH.text());
    }
}
