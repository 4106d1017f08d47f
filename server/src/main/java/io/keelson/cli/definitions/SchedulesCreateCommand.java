package io.keelson.cli.definitions;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.MissionFile;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.TimeArgument;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.Recipe;
import io.keelson.client.Schedule;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
            ObjectNode body = body(keelson);
            Schedule schedule = keelson.schedules().byName(name)
                    .map(there -> keelson.schedules().replace(there.id(), body))
                    .orElseGet(() -> keelson.schedules().create(body));
            if (json) {
                print(keelson.api().get("/schedules/" + schedule.id()));
            } else {
                print(List.of(schedule.name() + ": the next run is at " + schedule.nextRunAt()));
            }
            return ExitCode.OK;
        }
    }

    private ObjectNode body(Keelson keelson) {
        ObjectNode body = Json.object().put("name", name).put("cron", cron);
        put(body, "time_zone", zone);
        put(body, "overlap", overlap);
        put(body, "catch_up", catchUp);
        put(body, "end_at", end == null ? null : TimeArgument.read(end).map(Instant::toString).orElse(end));
        if (jitter != null) {
            body.put("jitter_seconds", jitter);
        }
        if (maxRuns != null) {
            body.put("max_runs", maxRuns);
        }
        JsonNode declared = what.mission == null ? recipe(keelson, body) : mission(body, what.mission);
        ObjectNode values = body.putObject("inputs");
        inputs.forEach((key, value) -> values.set(key, MissionFile.value(value,
                declared.path(key).path("type").asString("").equals("string"))));
        return body;
    }

    private JsonNode recipe(Keelson keelson, ObjectNode body) {
        Recipe recipe = RecipesCommand.named(keelson, String.valueOf(what.recipe));
        body.put("recipe", recipe.id());
        return recipe.inputs();
    }

    private static JsonNode mission(ObjectNode body, String file) {
        ObjectNode mission = MissionFile.read(file).document();
        body.set("mission", mission);
        return mission.path("inputs");
    }

    private static void put(ObjectNode body, String key, @Nullable String value) {
        if (value != null) {
            body.put(key, value);
        }
    }
}
