package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The record of a run does not tell whether its steps were executed in chains, but for its times. */
@Timeout(300)
@ExtendWith(Breadth.InFailures.class)
class ChainRecordsTest {
    private static final List<Integer> STORIES = Breadth.of(IntStream.range(0, 200).boxed().toList());
    private static final Pattern ID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    private static final Pattern TIME = Pattern.compile("\"[0-9]{4}-[0-9]{2}-[0-9]{2}T[^\"]*\"");
    /** Counts commits, or follows from their times. */
    private static final Pattern OF_TIME =
            Pattern.compile(
                    "\"(version_id|xid|[a-z_]+_ms|last_heartbeat_at)\": ?[^,}]*");
    private static final List<String> ROWS = List.of(
            "select to_jsonb(t) from orchestration_events t where run_id = '%s' order by seq",
            "select to_jsonb(t) from orchestration_runs t where id = '%s'",
            "select to_jsonb(t) from run_heads t where run_id = '%s'",
            "select to_jsonb(t) from run_attempts t where run_id = '%s' order by attempt_number",
            "select to_jsonb(t) from orchestration_tasks t where run_id = '%s' order by sequence_number",
            "select to_jsonb(t) from orchestration_steps t where run_id = '%s' order by task_id, position, turn",
            "select to_jsonb(t) from work_results t where run_id = '%s' order by step_id, epoch",
            "select to_jsonb(t) from billing_ledger t where run_id = '%s' order by id",
            "select to_jsonb(t) from work_queue t where run_id = '%s' order by task_id",
            "select to_jsonb(t) - 'agent_report_id' from board_tasks t where run_id = '%s' order by id");

    @TempDir
    Path folder;

    @Test
    void recordsAreEqualWithAndWithoutChains() throws Exception {
        try (Nodes nodes = new Nodes(folder)) {
            Duration hour = Duration.ofHours(1);
            List<String> single = records(nodes, Engine.Chains.OFF);
            List<String> atTheEnd = records(nodes, new Engine.Chains(true, hour, hour));
            List<String> atOnce = records(nodes, new Engine.Chains(true, Duration.ZERO, hour));
            List<String> queuedSingle = recordsOfQueued(nodes, Engine.Chains.OFF);
            List<String> queued = recordsOfQueued(nodes, new Engine.Chains(true, hour, hour, hour));
            for (int i = 0; i < STORIES.size(); i++) {
                equal(STORIES.get(i), atTheEnd.get(i), single.get(i));
                equal(STORIES.get(i), atOnce.get(i), single.get(i));
                equal(STORIES.get(i), queued.get(i), queuedSingle.get(i));
            }
            assertThat(claimedAtTheirEnd(nodes)).isPositive();
            nodes.assertSound();
        }
    }

    /** A failure shows only the place of the first difference. */
    private static void equal(int story, String chained, String single) {
        int at = 0;
        while (at < chained.length() && at < single.length() && chained.charAt(at) == single.charAt(at)) {
            at++;
        }
        assertThat(around(chained, at)).as("story %d:%n%s", story, mission(story)).isEqualTo(around(single, at));
    }

    private static String around(String record, int at) {
        return record.substring(Math.max(0, at - 200), Math.min(record.length(), at + 100));
    }

    /** Runs that one commit behind their creation has claimed and ended. */
    private static long claimedAtTheirEnd(Nodes nodes) {
        return nodes.count("select count(*) from orchestration_runs r where created_at < started_at and "
                + "started_at = completed_at and 2 = (select count(*) from run_event_packs p where p.run_id = r.id)");
    }

    private static List<String> records(Nodes nodes, Engine.Chains chains) throws Exception {
        try (Engine engine = nodes.node(chains)) {
            return records(nodes, engine);
        }
    }

    /** Another node creates the runs and executes nothing. */
    private static List<String> recordsOfQueued(Nodes nodes, Engine.Chains chains) throws Exception {
        try (Engine accepting = nodes.node(chains, 0); Engine _ = nodes.node(chains)) {
            nodes.awaitEnd(nodes.submit(accepting, mission(0))); // a node claims its first work before it executes it
            return records(nodes, accepting);
        }
    }

    private static List<String> records(Nodes nodes, Engine engine) {
        List<UUID> runs = new ArrayList<>();
        for (int story : STORIES) {
            UUID run = nodes.submit(engine, mission(story));
            runs.add(run);
            nodes.awaitEnd(run);
        }
        return runs.stream().map(run -> record(nodes, run)).toList();
    }

    /** All rows, with ids by the order of their first appearance and without times. */
    private static String record(Nodes nodes, UUID run) {
        StringBuilder all = new StringBuilder();
        for (String rows : ROWS) {
            all.append(nodes.text("select string_agg(row::text, e'\\n') from (" + rows.formatted(run) + ") r (row)"))
                    .append('\n');
        }
        Map<String, String> ids = new LinkedHashMap<>();
        Matcher found = ID.matcher(all);
        String named = found.replaceAll(id -> ids.computeIfAbsent(id.group(), _ -> "#" + ids.size()));
        return numbers(TIME.matcher(OF_TIME.matcher(named).replaceAll("\"$1\": 0")).replaceAll("\"T\""));
    }

    /** Numbers of rows in tables of all runs. */
    private static String numbers(String record) {
        return record.replaceAll(
                "\"(id|board_task_id|task_number|parent_task_id|seq_id|board_id|created_by_task)\": ?[0-9]+",
                "\"$1\": 0");
    }

    /** One to three tasks of one to seven steps that compute, refer to each other, cost something or fail. */
    private static String mission(int story) {
        Random random = new Random(story);
        StringBuilder yaml = new StringBuilder("name: story\ngoal: g\ninputs: {who: {type: string, default: you}}\n");
        if (random.nextInt(4) == 0) {
            yaml.append("config: {budget: {hard_limit: 1.5}}\n");
        }
        yaml.append("plan:\n  tasks:\n");
        int tasks = 1 + random.nextInt(3);
        for (int t = 0; t < tasks; t++) {
            yaml.append("    - id: t").append(t).append(t == 0 ? "" : "\n      depends_on: [t" + (t - 1) + "]")
                    .append(random.nextInt(6) == 0 ? "\n      failure_mode: continue" : "").append("\n      steps:\n");
            int steps = 1 + random.nextInt(7);
            for (int s = 0; s < steps; s++) {
                yaml.append("        - {name: s").append(s).append(", ").append(step(random, t, s)).append("}\n");
            }
        }
        return yaml.toString();
    }

    private static String step(Random random, int task, int step) {
        String before = step == 0 ? "${ .inputs.who }" : "${ .steps.s" + random.nextInt(step) + ".output }";
        return switch (random.nextInt(12)) {
            case 0 -> "tool: noop, input: {tokens: " + (7 + step % 3) + ", cost: 0.4}";
            case 1 -> "tool: noop, input: {output: {bb: 1.50, a: -0.0, \"ä\": 1e3, zz: [1, {y: 2, x: 0.10}]}}";
            case 2 -> "tool: json.transform, input: {expression: \"tojson\", input: \"" + before + "\"}";
            case 3 -> "tool: echo, input: {said: \"" + before + "\", of: \"${ .run.goal }\"}";
            case 4 -> "tool: echo, input: {all: \"${ .steps }\"}";
            case 5 -> "tool: json.transform, input: {expression: \"[1.0, 1e3, 3.10, 1e-7, 12345678901234567890]\"}";
            case 6 -> "tool: text.template, input: {template: \"hello\"}";
            case 7 -> task == 0 ? "tool: noop" : "tool: echo, input: {up: \"${ .tasks.t0 }\", own: \"" + before + "\"}";
            case 8 -> "tool: echo, input: {task: \"${ .task }\"}";
            case 9 -> random.nextInt(3) == 0 ? "tool: fail, input: {class: permanent}" : "tool: noop";
            case 10 -> random.nextInt(4) == 0
                    ? "tool: fail, input: {times: 1}, retry: {max_attempts: 2, base_delay_seconds: 0.01, jitter: 0}"
                    : "tool: noop";
            default -> "tool: json.transform, input: {expression: \"error\", input: \"" + before + "\"}"
                    .replace("error", random.nextInt(5) == 0 ? "error" : "[., type]");
        };
    }
}
