package io.keelson.cli.definitions;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.MissionFile;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.TimeArgument;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Table;
import io.keelson.client.Keelson;
import io.keelson.client.Recipe;
import io.keelson.client.Schedule;
import io.keelson.client.ScheduleRequest;
import io.keelson.client.ScheduledTime;
import io.keelson.client.plan.Mission;
import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.StartupException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "schedules", description = "Lists schedules, which create runs at given times while a server runs.",
        subcommands = {SchedulesCommand.Create.class, SchedulesCommand.Show.class, SchedulesCommand.Next.class,
                SchedulesCommand.Runs.class, SchedulesCommand.Pause.class, SchedulesCommand.Resume.class,
                SchedulesCommand.Trigger.class, SchedulesCommand.Backfill.class, SchedulesCommand.Delete.class},
        footerHeading = "%nExamples:%n", footer = {"  keelson schedules",
                "  keelson schedules create nightly --cron \"30 2 * * *\" --zone Europe/Berlin --recipe nightly-report",
                "  keelson schedules next nightly", "  keelson schedules trigger nightly",
                "  keelson schedules backfill nightly --from 2026-11-01T00:00:00Z --to 2026-11-07T00:00:00Z"})
public final class SchedulesCommand extends CliCommand {

    private static final String UUID = "([a-z]+_)?[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            if (json) {
                print(server.keelson().api().get("/schedules?limit=500"));
            } else {
                List<Schedule> schedules = server.keelson().schedules().list();
                print(schedules.isEmpty() ? List.of("no schedules") : table(schedules));
            }
            return ExitCode.OK;
        }
    }

    private List<String> table(List<Schedule> schedules) {
        Table table = new Table("NAME", "CRON", "ZONE", "NEXT", "RUNS");
        schedules.forEach(each -> table.row(each.name(), each.cron(), each.timeZone(), next(each),
                String.valueOf(each.runsMade())));
        return table.lines(style());
    }

    private static String next(Schedule schedule) {
        Instant next = schedule.nextRunAt();
        return next != null ? next.toString() : schedule.paused() ? "paused" : "over";
    }

    /** The id of a schedule that is named by its name or id. */
    static String id(Keelson keelson, String nameOrId) {
        return nameOrId.matches(UUID) ? nameOrId
                : keelson.schedules().byName(nameOrId).map(Schedule::id)
                        .orElseThrow(() -> CliException.failed("SCHEDULE_NOT_FOUND",
                                "no schedule '" + nameOrId + "'", null));
    }

    /** An action on one schedule. */
    abstract static class Act extends CliCommand {

        @Parameters(paramLabel = "NAME", description = "Name or id of the schedule.")
        String name = "";

        /** Whether it changes something, and does not only read. */
        boolean changes() {
            return true;
        }

        /** Answers what is said in a terminal. */
        abstract List<String> act(Keelson keelson, String id);

        /** The document that is printed with --json, relative to the schedule; null for nothing. */
        @Nullable String document() {
            return "";
        }

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            try (ServerConnection server = link(changes())) {
                String id = id(server.keelson(), name);
                List<String> said = act(server.keelson(), id);
                if (!json) {
                    print(said);
                } else if (document() != null) {
                    print(server.keelson().api().get("/schedules/" + id + document()));
                }
                return ExitCode.OK;
            }
        }
    }

    @Command(name = "show", description = "Shows a schedule.")
    static final class Show extends Act {
        @Override
        boolean changes() {
            return false;
        }

        @Override
        List<String> act(Keelson keelson, String id) {
            JsonNode document = keelson.api().get("/schedules/" + id);
            return document.toPrettyString().lines().toList();
        }
    }

    @Command(name = "next", description = "Shows the next times of a schedule, also if it is paused.")
    static final class Next extends Act {

        @Option(names = "--count", paramLabel = "N", description = "The number of times (default 5).")
        int count = 5;

        @Override
        boolean changes() {
            return false;
        }

        @Override
        List<String> act(Keelson keelson, String id) {
            return keelson.schedules().next(id, count).stream().map(Instant::toString).toList();
        }

        @Override
        String document() {
            return "/next?count=" + count;
        }
    }

    @Command(name = "runs", description = "Lists the past times of a schedule and their outcomes, latest first.")
    static final class Runs extends Act {

        @Override
        boolean changes() {
            return false;
        }

        @Override
        List<String> act(Keelson keelson, String id) {
            Table table = new Table("FOR", "KIND", "STATE", "RUN");
            List<ScheduledTime> times = keelson.schedules().runs(id, 50);
            times.forEach(time -> table.row(time.scheduledFor().toString(), time.kind(), time.state(),
                    time.state().equals("made") ? time.runId() : time.errorCode() == null ? "" : time.errorCode()));
            return times.isEmpty() ? List.of("none yet") : table.lines(style());
        }

        @Override
        String document() {
            return "/runs";
        }
    }

    @Command(name = "pause", description = "Pauses a schedule.")
    static final class Pause extends Act {
        @Override
        List<String> act(Keelson keelson, String id) {
            return List.of(keelson.schedules().pause(id).name() + " is paused");
        }
    }

    @Command(name = "resume", description = "Resumes a schedule from its next time.")
    static final class Resume extends Act {
        @Override
        List<String> act(Keelson keelson, String id) {
            return List.of("the next run is at " + keelson.schedules().resume(id).nextRunAt());
        }
    }

    @Command(name = "trigger", description = "Creates a run now, regardless of its policies.")
    static final class Trigger extends Act {
        @Override
        List<String> act(Keelson keelson, String id) {
            return List.of(keelson.schedules().trigger(id).runId());
        }

        @Override
        String document() {
            return "/runs?limit=1";
        }
    }

    @Command(name = "backfill",
            description = "Creates runs for the times of a past period, except times already backfilled.")
    static final class Backfill extends Act {

        @Option(names = "--from", paramLabel = "TIME", required = true, description = "Start of the period, inclusive.")
        String from = "";

        @Option(names = "--to", paramLabel = "TIME", required = true, description = "End of the period, inclusive.")
        String to = "";

        @Override
        List<String> act(Keelson keelson, String id) {
            return List.of(
                    AmountText.count(keelson.schedules().backfill(id, TimeArgument.of(from), TimeArgument.of(to)),
                            "time")
                            + "; their outcomes: " + ProgramName.current() + " schedules runs " + name);
        }

        @Override
        String document() {
            return "/runs";
        }
    }

    @Command(name = "delete", description = "Deletes a schedule; its runs stay.")
    static final class Delete extends Act {
        @Override
        List<String> act(Keelson keelson, String id) {
            keelson.schedules().delete(id);
            return List.of(name + " is deleted");
        }

        @Override
        @Nullable String document() {
            return null;
        }
    }

    @Command(name = "create",
            description = "Creates a schedule, or changes the schedule with that name.")
    static final class Create extends CliCommand {

        /** The recipe or mission of its runs. */
        static final class What {
            @Option(names = "--recipe", paramLabel = "NAME", required = true,
                    description = "A recipe, by its name or id.")
            @Nullable String recipe;

            @Option(names = "--mission", paramLabel = "FILE", required = true, description = "Or a mission file.")
            @Nullable String mission;
        }

        @Parameters(paramLabel = "NAME", description = "Name of the schedule.")
        String name = "";

        @Option(names = "--cron", paramLabel = "EXPRESSION", required = true,
                description = "Minute, hour, day of month, month, day of week; or @daily and the like.")
        String cron = "";

        @Option(names = "--zone", paramLabel = "ZONE", description = "Such as Europe/Berlin; UTC when left out.")
        @Nullable String zone;

        @ArgGroup(multiplicity = "1")
        What what = new What();

        @Option(names = {"-i", "--input"}, paramLabel = "NAME=VALUE",
                description = "The value of an input; repeatable.")
        Map<String, String> inputs = new LinkedHashMap<>();

        @Option(names = "--overlap", paramLabel = "POLICY",
                description = "While a run is open: allow, skip (default), queue or cancel_running.")
        @Nullable String overlap;

        @Option(names = "--catch-up", paramLabel = "POLICY",
                description = "Policy for times missed without a server: skip, latest (default) or all.")
        @Nullable String catchUp;

        @Option(names = "--jitter", paramLabel = "SECONDS", description = "Delay each run by a random time up to this.")
        @Nullable Integer jitter;

        @Option(names = "--end", paramLabel = "TIME", description = "The last possible time.")
        @Nullable String end;

        @Option(names = "--max-runs", paramLabel = "N", description = "End the schedule after N runs.")
        @Nullable Integer maxRuns;

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            try (ServerConnection server = link(true)) {
                Keelson keelson = server.keelson();
                ScheduleRequest request = request(keelson);
                Schedule schedule = keelson.schedules().byName(name)
                        .map(there -> keelson.schedules().replace(there.id(), request))
                        .orElseGet(() -> keelson.schedules().create(request));
                if (json) {
                    print(keelson.api().get("/schedules/" + schedule.id()));
                } else {
                    print(List.of(schedule.name() + ": the next run is at " + schedule.nextRunAt()));
                }
                return ExitCode.OK;
            }
        }

        private ScheduleRequest request(Keelson keelson) {
            ScheduleRequest request = ScheduleRequest.of(name, cron);
            set(zone, request::timeZone);
            set(overlap, request::overlap);
            set(catchUp, request::catchUp);
            set(end == null ? null : TimeArgument.of(end), request::endAt);
            set(jitter == null ? null : Duration.ofSeconds(jitter), request::jitter);
            set(maxRuns, request::maxRuns);
            JsonNode declared = what.mission == null ? recipe(keelson, request) : mission(request, what.mission);
            inputs.forEach((key, value) -> request.input(key, MissionFile.value(value,
                    declared.path(key).path("type").asString("").equals("string"))));
            return request;
        }

        private JsonNode recipe(Keelson keelson, ScheduleRequest request) {
            Recipe recipe = RecipesCommand.named(keelson, String.valueOf(what.recipe));
            request.recipe(recipe.id());
            return recipe.inputs();
        }

        private static JsonNode mission(ScheduleRequest request, String file) {
            ObjectNode mission = MissionFile.read(file).document();
            request.mission(Mission.of(mission));
            return mission.path("inputs");
        }

        private static <T> void set(@Nullable T value, Consumer<T> member) {
            if (value != null) {
                member.accept(value);
            }
        }
    }
}
