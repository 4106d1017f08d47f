package io.keelson.server.api.http.runs;

import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.base.json.Json;
import java.util.List;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The mission that a run was made of, to be run or kept again: its inputs are declared with its values as defaults. */
public final class RunMission {

    private RunMission() {}

    /** @return in the shape of a mission file; not found where the workspace has no such run */
    static ObjectNode of(Reads reads, UUID workspace, UUID run) {
        return of(reads.read((runs, c) -> Reads.found(runs.mission(c, workspace, run), IdKind.RUN, run)));
    }

    /** @param row the stored mission of a run, from the run's reader */
    public static ObjectNode of(ObjectNode row) {
        ObjectNode mission = row.deepCopy();
        JsonNode declarations = row.path("input_declarations");
        mission.remove(List.of("input_declarations", "origin", "state", "total_cost", "total_tokens", "duration_ms",
                "completed_at"));
        mission.properties().removeIf(member -> member.getValue().isNull());
        ObjectNode declared = Json.object();
        row.path("inputs").properties().forEach(each -> {
            ObjectNode schema = declarations.path(each.getKey()) instanceof ObjectNode object ? object.deepCopy()
                    : Json.object();
            declared.set(each.getKey(), schema.set("default", each.getValue()));
        });
        mission.set("inputs", declared);
        return mission;
    }
}
