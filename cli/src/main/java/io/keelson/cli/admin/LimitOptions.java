package io.keelson.cli.admin;

import io.keelson.api.tenant.LimitName;
import io.keelson.api.tenant.WorkspaceLimits;
import io.keelson.api.tenant.WorkspaceUse;
import io.keelson.cli.common.CliException;
import io.keelson.cli.view.AmountText;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Limits as options, and as people read them. */
final class LimitOptions {

    @Option(names = "--limit", paramLabel = "NAME=N", description = "open_runs, steps, runs_per_minute, storage_bytes, "
            + "requests_per_minute, usd_per_month, steps_per_minute, tool:NAME for one tool's steps at a time, tool_per_minute:NAME for its steps that begin within a minute, model:NAME and model_per_minute:NAME for one model's, model_tokens_per_minute:NAME for the tokens of its requests, agent_per_minute:NAME for the steps of an agent of the roster, by its slug; repeatable. N is a whole number (credits may have six decimal places), or none to remove a limit.")
    Map<String, String> limits = new LinkedHashMap<>();

    /** The given value; null for no limit. */
    Map<String, @Nullable Number> changes() {
        Map<String, @Nullable Number> changes = new LinkedHashMap<>();
        limits.forEach((name, text) -> changes.put(name, number(name, text)));
        return changes;
    }

    private static @Nullable Number number(String name, String text) {
        LimitName limit =
                LimitName.find(name.contains(":") ? name.substring(0, name.indexOf(':')) : name).orElse(null);
        if (limit == null || (limit.members() == null) == name.contains(":")) {
            throw CliException.usage("USAGE", "--limit " + name + ": unknown; the limits are "
                    + LimitName.all().collect(Collectors.joining(", ")));
        }
        if (text.equals("none")) {
            return null;
        }
        if (limit == LimitName.USD_PER_MONTH) {
            if (!text.matches("\\d{1,14}(\\.\\d{1,6})?")) {
                throw CliException.usage("USAGE",
                        "--limit " + name + "=" + text + ": credits with at most six decimal places, or none");
            }
            return new BigDecimal(text);
        }
        if (!text.matches("\\d{1,18}")) {
            throw CliException.usage("USAGE", "--limit " + name + "=" + text + ": a whole number, or none");
        }
        return Long.valueOf(text);
    }

    static List<String> lines(WorkspaceLimits limits, @Nullable WorkspaceUse use) {
        List<String> lines = new ArrayList<>();
        line(lines, LimitName.OPEN_RUNS, use == null ? null : use.openRuns(), limits.openRuns());
        line(lines, LimitName.STEPS, use == null ? null : use.steps(), limits.steps());
        line(lines, LimitName.RUNS_PER_MINUTE, use == null ? null : use.runsLastMinute(), limits.runsPerMinute());
        line(lines, LimitName.STORAGE_BYTES, use == null ? null : use.storageBytes(), limits.storageBytes());
        line(lines, LimitName.REQUESTS_PER_MINUTE, null, limits.requestsPerMinute());
        BigDecimal used = use == null ? null : use.usdThisMonth();
        lines.add(line(LimitName.USD_PER_MONTH.text(), used == null ? null : AmountText.decimal(used),
                limits.usdPerMonth() == null ? null : AmountText.decimal(limits.usdPerMonth())));
        line(lines, LimitName.STEPS_PER_MINUTE, null, limits.stepsPerMinute());
        addLines(lines, LimitName.TOOL, limits.tools());
        addLines(lines, LimitName.TOOL_PER_MINUTE, limits.toolsPerMinute());
        addLines(lines, LimitName.MODEL, limits.models());
        addLines(lines, LimitName.MODEL_PER_MINUTE, limits.modelsPerMinute());
        addLines(lines, LimitName.MODEL_TOKENS_PER_MINUTE, limits.modelTokensPerMinute());
        addLines(lines, LimitName.AGENT_PER_MINUTE, limits.agentsPerMinute());
        return lines;
    }

    private static void addLines(List<String> lines, LimitName name, Map<String, Long> limits) {
        limits.entrySet().stream().sorted(Map.Entry.comparingByKey())
                .forEach(each -> line(lines, name.of(each.getKey()), null, each.getValue()));
    }

    private static void line(List<String> lines, LimitName name, @Nullable Long used, @Nullable Long most) {
        line(lines, name.text(), used, most);
    }

    private static void line(List<String> lines, String name, @Nullable Long used, @Nullable Long most) {
        lines.add(
                line(name, used == null ? null : AmountText.count(used), most == null ? null : AmountText.count(most)));
    }

    private static String line(String name, @Nullable String used, @Nullable String most) {
        return String.format("%-20s %s", name,
                (used == null ? "" : used + " of ") + (most == null ? "no limit" : most));
    }
}
