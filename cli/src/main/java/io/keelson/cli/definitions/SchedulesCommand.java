package io.keelson.cli.definitions;

import io.keelson.api.definition.Recipe;
import io.keelson.api.schedule.Schedule;
import io.keelson.api.schedule.ScheduledTime;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.ListCommand;
import io.keelson.cli.common.MissionFile;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.ServerConnection.Work;
import io.keelson.cli.common.TimeArgument;
import io.keelson.cli.view.AmountText;
import io.keelson.client.Keelson;
import io.keelson.client.ScheduleRequest;
import io.keelson.client.plan.Mission;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
        footer = {"  keelson schedules",
                "  keelson schedules create nightly --cron \"30 2 * * *\" --zone Europe/Berlin --recipe nightly-report",
                "  keelson schedules next nightly", "  keelson schedules trigger nightly",
                "  keelson schedules backfill nightly --from 2026-11-01T00:00:00Z --to 2026-11-07T00:00:00Z"})
public final class SchedulesCommand extends ListCommand<Schedule> {

    private static final String UUID = "([a-z]+_)?[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";

    SchedulesCommand() {
        super("no schedules", "NAME", "CRON", "ZONE", "NEXT", "RUNS");
    }

    @Override
    protected List<Schedule> items(Keelson keelson) {
        return keelson.schedules().list();
    }

    @Override
    protected JsonNode document(Keelson keelson) {
        return keelson.api().get("/schedules?limit=500");
    }

    @Override
    protected List<String> row(Schedule each) {
        return List.of(each.name(), each.cron(), each.timeZone(), next(each), String.valueOf(each.runsMade()));
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
                                "no schedule '" + nameOrId + "'"));
    }

    /** A command about one schedule. */
    abstract static class One extends ClientCommand {

        @Parameters(paramLabel = "NAME", description = "Name or id of the schedule.")
        String name = "";

        abstract void run(Keelson keelson, String id);

        @Override
        protected final void run(Keelson keelson) {
            run(keelson, id(keelson, name));
        }

        /** Prints a document of the schedule with {@code --json}, otherwise the lines. */
        final void print(Keelson keelson, String path, List<String> lines) {
            print(() -> keelson.api().get("/schedules/" + path), () -> lines);
        }
    }

    /** A change of one schedule. */
    abstract static class Change extends One {

        @Override
        protected Work work() {
            return Work.NONE;
        }
    }

    @Command(name = "show", description = "Shows a schedule.")
    static final class Show extends One {
        @Override
        void run(Keelson keelson, String id) {
            print(keelson.api().get("/schedules/" + id));
        }
    }

    @Command(name = "next", description = "Shows the next times of a schedule, also if it is paused.")
    static final class Next extends One {

        @Option(names = "--count", paramLabel = "N", description = "The number of times (default 5).")
        int count = 5;

        @Override
        void run(Keelson keelson, String id) {
            print(() -> keelson.api().get("/schedules/" + id + "/next?count=" + count),
                    () -> keelson.schedules().next(id, count).stream().map(Instant::toString).toList());
        }
    }

    @Command(name = "runs", description = "Lists the past times of a schedule and their outcomes, latest first.")
    static final class Runs extends ListCommand<ScheduledTime> {

        @Parameters(paramLabel = "NAME", description = "Name or id of the schedule.")
        String name = "";

        Runs() {
            super("none yet", "FOR", "KIND", "STATE", "RUN");
        }

        @Override
        protected List<ScheduledTime> items(Keelson keelson) {
            return keelson.schedules().runs(id(keelson, name), 50);
        }

        @Override
        protected JsonNode document(Keelson keelson) {
            return keelson.api().get("/schedules/" + id(keelson, name) + "/runs");
        }

        @Override
        protected List<String> row(ScheduledTime time) {
            return List.of(time.scheduledFor().toString(), time.kind(), time.state(),
                    Objects.requireNonNullElse(time.state().equals("made") ? time.runId() : time.errorCode(), ""));
        }
    }

    @Command(name = "pause", description = "Pauses a schedule.")
    static final class Pause extends Change {
        @Override
        void run(Keelson keelson, String id) {
            print(keelson, id, List.of(keelson.schedules().pause(id).name() + " is paused"));
        }
    }

    @Command(name = "resume", description = "Resumes a schedule from its next time.")
    static final class Resume extends Change {
        @Override
        void run(Keelson keelson, String id) {
            print(keelson, id, List.of("the next run is at " + keelson.schedules().resume(id).nextRunAt()));
        }
    }

    @Command(name = "trigger", description = "Creates a run now, regardless of its policies.")
    static final class Trigger extends Change {
        @Override
        void run(Keelson keelson, String id) {
            print(keelson, id + "/runs?limit=1", List.of(keelson.schedules().trigger(id).runId()));
        }
    }

    @Command(name = "backfill",
            description = "Creates runs for the times of a past period, except times already backfilled.")
    static final class Backfill extends Change {

        @Option(names = "--from", paramLabel = "TIME", required = true, description = "Start of the period, inclusive.")
        String from = "";

        @Option(names = "--to", paramLabel = "TIME", required = true, description = "End of the period, inclusive.")
        String to = "";

        @Override
        void run(Keelson keelson, String id) {
            int times = keelson.schedules().backfill(id, TimeArgument.of(from), TimeArgument.of(to));
            print(keelson, id + "/runs", List.of(AmountText.count(times, "time") + "; their outcomes: "
                    + ProgramName.current() + " schedules runs " + name));
        }
    }

    @Command(name = "delete", description = "Deletes a schedule; its runs stay.")
    static final class Delete extends Change {
        @Override
        void run(Keelson keelson, String id) {
            keelson.schedules().delete(id);
            say(name + " is deleted");
        }
    }

    @Command(name = "create",
            description = "Creates a schedule, or changes the schedule with that name.")
    static final class Create extends ChangeCommand {

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
        protected void run(Keelson keelson) {
            ScheduleRequest request = request(keelson);
            Schedule schedule = keelson.schedules().byName(name)
                    .map(there -> keelson.schedules().replace(there.id(), request))
                    .orElseGet(() -> keelson.schedules().create(request));
            print(() -> keelson.api().get("/schedules/" + schedule.id()),
                    () -> List.of(schedule.name() + ": the next run is at " + schedule.nextRunAt()));
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
