package io.keelson.cli.definitions;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.MissionFile;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.TimeArgument;
import io.keelson.client.Keelson;
import io.keelson.client.Recipe;
import io.keelson.client.Schedule;
import io.keelson.client.ScheduleRequest;
import io.keelson.client.plan.Mission;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.time.Duration;
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

@Command(name = "create",
        description = "Creates a schedule, or changes the schedule with that name.")
final class SchedulesCreateCommand extends CliCommand {

    /** What it makes runs of. */
    static final class What {
        @Option(names = "--recipe", paramLabel = "NAME", required = true, description = "A recipe, by its name or id.")
        @Nullable String recipe;

        @Option(names = "--mission", paramLabel = "FILE", required = true, description = "Or a mission file.")
        @Nullable String mission;
    }

    @Parameters(paramLabel = "NAME", description = "Its name.")
    String name = "";

    @Option(names = "--cron", paramLabel = "EXPRESSION", required = true,
            description = "Minute, hour, day of month, month, day of week; or @daily and the like.")
    String cron = "";

    @Option(names = "--zone", paramLabel = "ZONE", description = "Such as Europe/Berlin; UTC when left out.")
    @Nullable String zone;

    @ArgGroup(multiplicity = "1")
    What what = new What();

    @Option(names = {"-i", "--input"}, paramLabel = "NAME=VALUE", description = "The value of an input; repeatable.")
    Map<String, String> inputs = new LinkedHashMap<>();

    @Option(names = "--overlap", paramLabel = "POLICY",
            description = "While a run is open: allow, skip (default), queue or cancel_running.")
    @Nullable String overlap;

    @Option(names = "--catch-up", paramLabel = "POLICY",
            description = "For times missed without a server: skip, latest (default) or all.")
    @Nullable String catchUp;

    @Option(names = "--jitter", paramLabel = "SECONDS", description = "Delay each run by a random time up to this.")
    @Nullable Integer jitter;

    @Option(names = "--end", paramLabel = "TIME", description = "The last possible time.")
    @Nullable String end;

    @Option(names = "--max-runs", paramLabel = "N", description = "End the schedule after N runs.")
    @Nullable Integer maxRuns;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
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
