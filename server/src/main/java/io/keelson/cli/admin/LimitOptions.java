package io.keelson.cli.admin;

import io.keelson.cli.common.CliException;
import io.keelson.cli.view.AmountText;
import io.keelson.client.WorkspaceLimits;
import io.keelson.client.WorkspaceUse;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Limits as options, and as people read them. */
final class LimitOptions {

    @Option(names = "--limit", paramLabel = "NAME=N", description = "open_runs, steps, runs_per_minute, storage_bytes, "
            + "requests_per_minute, tool:NAME for one tool's steps at a time, or model:NAME for one model's; repeatable. N is a whole number, or none to remove a limit.")
    Map<String, String> limits = new LinkedHashMap<>();

    /** What was given; null for no limit. */
    Map<String, @Nullable Long> changes() {
        Map<String, @Nullable Long> changes = new LinkedHashMap<>();
        limits.forEach((name, text) -> changes.put(name, text.equals("none") ? null : number(name, text)));
        return changes;
    }

    private static Long number(String name, String text) {
        if (!text.matches("\\d{1,18}")) {
            throw CliException.usage("USAGE", "--limit " + name + "=" + text + ": a whole number, or none");
        }
        return Long.valueOf(text);
    }

    static List<String> lines(WorkspaceLimits limits, @Nullable WorkspaceUse use) {
        List<String> lines = new ArrayList<>();
        line(lines, "open_runs", use == null ? null : use.openRuns(), limits.openRuns());
        line(lines, "steps", use == null ? null : use.steps(), limits.steps());
        line(lines, "runs_per_minute", use == null ? null : use.runsLastMinute(), limits.runsPerMinute());
        line(lines, "storage_bytes", use == null ? null : use.storageBytes(), limits.storageBytes());
        line(lines, "requests_per_minute", null, limits.requestsPerMinute());
        limits.tools().entrySet().stream().sorted(Map.Entry.comparingByKey())
                .forEach(tool -> line(lines, "tool:" + tool.getKey(), null, tool.getValue()));
        limits.models().entrySet().stream().sorted(Map.Entry.comparingByKey())
                .forEach(model -> line(lines, "model:" + model.getKey(), null, model.getValue()));
        return lines;
    }

    private static void line(List<String> lines, String name, @Nullable Long used, @Nullable Long most) {
        lines.add(String.format("%-20s %s", name, (used == null ? "" : AmountText.count(used) + " of ")
                + (most == null ? "no limit" : AmountText.count(most))));
    }
}
