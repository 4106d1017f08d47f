package io.keelson.server;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.core.plan.Problem;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.StepError;
import io.keelson.server.engine.ChildMissions;
import io.keelson.server.plan.Mission;
import io.keelson.server.plan.MissionReader;
import io.keelson.server.plan.Reading;
import io.keelson.server.run.ScopeReader.Starter;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Reads what {@code run.start} is given as a mission. */
public final class Starts implements ChildMissions {
    private static final List<String> OWN = List.of("goal", "plan", "output", "config");

    private final Function<UUID, MissionReader> missions;

    /** @param missions reads missions of a workspace */
    public Starts(Function<UUID, MissionReader> missions) {
        this.missions = missions;
    }

    @Override
    public Evaluation make(Starter starter, JsonNode input) {
        return switch (missions.apply(starter.workspaceId()).read(document(starter, input))) {
            case Reading.Done<Mission>(Mission mission) -> new Evaluation.Starts(input.toString(),
                    mission.newRun(UuidCreator.getTimeOrderedEpoch(), starter.workspaceId(), starter.createdBy()),
                    budget(input.path("budget_usd")), input.path("on_parent_close").asString("").equals("abandon"),
                    timeout(input.path("timeout_seconds")));
            case Reading.Refused<Mission>(List<Problem> problems) -> new Evaluation.Broken(new StepError(
                    "CHILD_RUN_INVALID", ErrorClass.PERMANENT, problems.stream()
                            .map(each -> each.pointer() + ": " + each.message() + " (" + each.code() + ")")
                            .collect(Collectors.joining("; "))));
        };
    }

    private static ObjectNode document(Starter starter, JsonNode input) {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        document.put("name", input.path("name").asString(starter.name()));
        document.put("trigger", "run.start");
        document.put("priority", starter.priority());
        OWN.forEach(key -> {
            if (input.has(key)) {
                document.set(key, input.get(key));
            }
        });
        ObjectNode declared = document.putObject("inputs");
        ObjectNode values = document.putObject("input");
        input.path("inputs").properties().forEach(each -> {
            declared.putObject(each.getKey());
            values.set(each.getKey(), each.getValue());
        });
        return document;
    }

    private static @Nullable BigDecimal budget(JsonNode number) {
        return number.isNumber() ? number.decimalValue() : null;
    }

    private static @Nullable Duration timeout(JsonNode number) {
        return number.isNumber() ? Duration.ofMillis(Math.round(number.asDouble() * 1000)) : null;
    }
}
