package io.keelson.cli.control;

import io.keelson.api.run.Run;
import io.keelson.api.run.RunUndo;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.MissionFile;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.Sleep;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.BudgetView;
import io.keelson.cli.view.Details;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.ForkRequest;
import io.keelson.client.Keelson;
import io.keelson.client.Runs;
import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** An action on one run, which may be watched afterwards. */
public abstract class ActionCommand extends RunChange {

    @Parameters(paramLabel = "RUN", description = "The run's id, or latest.")
    String run;

    /** Executes the action and returns the run after it; null where it was about no run. */
    public abstract @Nullable Run act(Keelson keelson, Runs runs, String id);

    /** Prints why a run is still stopped by its budget after a change; ignores other runs. */
    public final void explainStop(Runs runs, Run changed) {
        if (changed.state().equals("budget_exceeded") && !watch) {
            runs.explain(changed.id()).reasons().stream().filter(reason -> reason.code().equals("BUDGET_EXCEEDED"))
                    .forEach(reason -> said("it is still stopped: " + TerminalText.clean(reason.text())));
        }
    }

    @Override
    public final @Nullable Run change(Keelson keelson) {
        return act(keelson, keelson.runs(), RunDocuments.id(keelson, run));
    }

    @Command(name = "pause",
            description = "Pauses a run: running steps finish and keep their results, no other step starts.",
            footer = "  keelson pause latest")
    public static final class Pause extends ActionCommand {

        @Override
        public Run act(Keelson keelson, Runs runs, String id) {
            return runs.pause(id);
        }
    }

    @Command(name = "fail",
            description = "Ends a run as failed. Running steps are interrupted; `retry` can start the run again.",
            footer = "  keelson fail latest --reason \"the figures are wrong\"")
    public static final class Fail extends ActionCommand {

        @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
        @Nullable String reason;

        @Override
        public Run act(Keelson keelson, Runs runs, String id) {
            return runs.fail(id, reason);
        }
    }

    @Command(name = "replan",
            description = "Requests a new plan from a run's planner: completed tasks stay, the others are replaced.",
            footer = "  keelson replan latest --reason \"another source\" --watch")
    public static final class Replan extends ActionCommand {

        @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record and the planner.")
        @Nullable String reason;

        @Override
        public Run act(Keelson keelson, Runs runs, String id) {
            return runs.replan(id, reason);
        }
    }

    @Command(name = "undo",
            description = {
                    "Undoes the completed work of an ended run by the `undo` of its tasks and steps, in reverse order.",
                    "With --watch it follows the run that undoes."},
            footer = "  keelson undo latest --reason \"wrong customer\" --watch")
    public static final class Undo extends ActionCommand {
        private static final Duration TIMEOUT = Duration.ofSeconds(30);
        private static final Duration POLL = Duration.ofMillis(50);

        @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
        @Nullable String reason;

        private String line = "";

        @Override
        public Run act(Keelson keelson, Runs runs, String id) {
            runs.undo(id, reason);
            RunUndo undo = awaitMade(runs, id);
            line = "undo of run " + id + " by run " + undo.runId() + ": " + Details.undo(undo)
                    + (undo.state().equals("failed")
                            ? "; continue it with `" + ProgramName.current() + " retry " + undo.runId() + "`"
                            : "");
            if (undo.runId() == null) {
                throw CliException.failed(undo.errorCode() == null ? "NOTHING_TO_UNDO" : undo.errorCode(),
                        undo.errorMessage() == null ? "no completed work of the run has an undo" : undo.errorMessage());
            }
            return runs.get(undo.runId());
        }

        /** In terms of the original: the run that undoes it completes also where it leaves work not undone. */
        @Override
        protected String outcome(Run after) {
            return line;
        }

        /** The undo once the run that undoes exists, or cannot exist. */
        private static RunUndo awaitMade(Runs runs, String id) {
            long until = System.nanoTime() + TIMEOUT.toNanos();
            RunUndo undo = runs.get(id).undo();
            while (undo == null || undo.state().equals("requested")) {
                if (System.nanoTime() > until) {
                    throw CliException.failed("UNDO_PENDING", "the run that undoes it is still being made");
                }
                Sleep.of(POLL);
                undo = runs.get(id).undo();
            }
            return undo;
        }
    }

    @Command(name = "fork", description = {"Starts a run of the same plan with other inputs, from one of its tasks.",
            "Completed tasks that do not depend on that task are reused with their outputs; the others run again.",
            "With --turn an agent's task continues from that turn: its turns and calls before it are copied and cost nothing."},
            footer = {"  keelson fork latest --from report --watch",
                    "  keelson fork latest --from report --turn 5 --model large --watch",
                    "  keelson fork latest --from report --input title=\"Second try\""})
    public static final class Fork extends ActionCommand {

        @Option(names = "--from", paramLabel = "TASK", required = true,
                description = "The first task to run again, by its id in the plan; TASK#7 begins with round 7 of its repeat.")
        String task = "";

        @Option(names = "--turn", paramLabel = "N",
                description = "The first turn of that task to take again, by its number in the transcript.")
        @Nullable Integer turn;

        @Option(names = "--model", paramLabel = "MODEL", description = "Another model for the agent of that task.")
        @Nullable String model;

        @Option(names = "--instructions", paramLabel = "TEXT",
                description = "Other instructions for the agent of that task.")
        @Nullable String instructions;

        @Option(names = "--tool", paramLabel = "TOOL",
                description = "A tool that the agent of that task may call, instead of those it had; repeatable.")
        @Nullable List<String> tools;

        @Option(names = "--recorded-calls",
                description = "Make no call of that task: each has the result that an equal call had in the run.")
        boolean recorded;

        @Option(names = "--task-only",
                description = "Execute only that task, without tasks after it, hooks, acceptance, ladder and new plans.")
        boolean taskOnly;

        @Option(names = {"-i", "--input"}, paramLabel = "NAME=VALUE",
                description = "The value of an input; repeatable.")
        Map<String, String> inputs = new LinkedHashMap<>();

        @Option(names = "--name", paramLabel = "NAME", description = "The new run's name, instead of the original's.")
        @Nullable String name;

        @Override
        public Run act(Keelson keelson, Runs runs, String id) {
            JsonNode before = runs.get(id).inputs();
            Map<String, JsonNode> values = new LinkedHashMap<>();
            inputs.forEach((key, value) -> values.put(key, MissionFile.value(value, before.path(key).isString())));
            return runs.fork(id,
                    new ForkRequest(task, turn, model, instructions, tools, values, name, recorded, taskOnly, null));
        }
    }

    @Command(name = "budget",
            description = "Changes the cost limits of a run and the budgets of its tasks. A run in budget_exceeded continues "
                    + "if they allow it. Without options, shows the limits, what is used and what is left.",
            footer = {"  keelson budget latest", "  keelson budget latest --hard-limit 5 --watch",
                    "  keelson budget latest --task research=0.5 --watch"})
    public static final class Budget extends ActionCommand {

        @ArgGroup(exclusive = false)
        @Nullable Limits limits;

        static final class Limits {
            @Option(names = "--hard-limit", paramLabel = "CREDITS",
                    description = "Limit of the cost of all attempts together.")
            @Nullable BigDecimal hard;

            @Option(names = "--soft-limit", paramLabel = "CREDITS", description = "Cost at which one warning is sent.")
            @Nullable BigDecimal soft;

            @Option(names = "--task", paramLabel = "TASK=CREDITS",
                    description = "Budget of a task that has one, by its id in the plan; may be repeated.")
            Map<String, BigDecimal> tasks = new LinkedHashMap<>();
        }

        @Override
        protected void prepare() {
            super.prepare();
            if (limits == null && watch) {
                throw CliException.usage("USAGE", "--watch follows a run after a change: give a new limit, too");
            }
        }

        @Override
        public @Nullable Run act(Keelson keelson, Runs runs, String id) {
            if (limits == null) {
                print(() -> RunDocuments.run(keelson, id), () -> BudgetView.lines(runs.get(id),
                        runs.explain(id).reasons(), ProgramName.current(), style()));
                return null;
            }
            Run changed = runs.budget(id, limits.hard, limits.soft, limits.tasks);
            if (changed.state().equals("failed")) {
                said((limits.hard == null ? "its budgets are changed"
                        : "its hard limit is " + AmountText.decimal(limits.hard))
                        + "; continue it with " + ProgramName.current() + " retry " + id);
            }
            explainStop(runs, changed);
            return changed;
        }
    }

    @Command(name = "signal",
            description = "Sends a signal to a run. A step with the tool signal.wait receives it, now or when it starts.",
            footer = "  keelson signal latest paid --payload '{\"amount\": 12}' --watch")
    public static final class Signal extends ActionCommand {

        @Parameters(paramLabel = "NAME", description = "The signal's name.")
        String name;

        @Option(names = "--payload", paramLabel = "JSON", description = "Payload of the signal; null by default.")
        @Nullable String payload;

        @Override
        public Run act(Keelson keelson, Runs runs, String id) {
            return runs.signal(id, name, payload == null ? null : json(payload));
        }

        private static Object json(String text) {
            try {
                return Json.read(text);
            } catch (JacksonException e) {
                throw CliException.usage("PAYLOAD_NOT_JSON", "--payload is not JSON: " + e.getOriginalMessage());
            }
        }
    }
}
