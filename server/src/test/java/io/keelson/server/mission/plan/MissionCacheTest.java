package io.keelson.server.mission.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.plan.Autonomy;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.RosterAgent;
import io.keelson.core.policy.CallApprovals;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class MissionCacheTest {
    private static final UUID OURS = new UUID(0, 1);
    private static final UUID THEIRS = new UUID(0, 2);
    private static final String MISSION = """
            {"name": "n", "plan": {"tasks": [
              {"id": "a", "suggested_model": "large", "steps": [{"tool": "translate"}, {"tool": "noop"}]}]}}""";

    private final Set<String> served = new HashSet<>(Set.of("translate"));
    private final Set<String> priced = new HashSet<>(Set.of("large"));
    private final CatalogToolKnowledge tools = Missions.tools(() -> served);
    private final MissionReader reader = reader(null, () -> AutonomyDefault.PRODUCT);
    private final MissionCache cache = new MissionCache();

    @Test
    void equalDocumentIsReadOnce() {
        MissionCache.Key key = key(OURS, MISSION);
        assertThat(cache.find(key, reader)).isNull();
        CheckedMission mission = Missions.done(read(key, MISSION));

        assertThat(cache.find(key(OURS, MISSION), reader)).isSameAs(mission);
        assertThat(cache.hits()).isEqualTo(1);
        assertThat(cache.misses()).isEqualTo(1);
    }

    @Test
    void otherWorkspacesFormatsAndDocumentsAreNotFound() {
        assertThat(problems(read(key(OURS, MISSION), MISSION))).isEmpty();

        assertThat(cache.find(key(THEIRS, MISSION), reader)).isNull();
        assertThat(cache.find(key(OURS, MISSION + "\n"), reader)).isNull();
        assertThat(cache.find(key(OURS, MISSION.replace("\"n\"", "\"m\"")), reader)).isNull();
        assertThat(cache.find(MissionCache.Key.of(OURS, Format.YAML, bytes(MISSION)), reader)).isNull();
    }

    @Test
    void missionIsRefusedWhileItsToolIsNotServed() {
        MissionCache.Key key = key(OURS, MISSION);
        assertThat(problems(read(key, MISSION))).isEmpty();

        served.clear();
        assertThat(cache.find(key, reader)).isNull();
        assertThat(problems(read(key, MISSION))).containsExactly("UNKNOWN_TOOL");

        served.add("translate");
        assertThat(cache.find(key, reader)).isNotNull();
    }

    @Test
    void missionIsReadAgainWhenTheAutonomyLevelOfItsWorkspaceChanges() {
        AtomicReference<AutonomyDefault> level = new AtomicReference<>(AutonomyDefault.PRODUCT);
        MissionReader levelled = reader(null, level::get);
        MissionCache.Key key = key(OURS, MISSION);
        assertThat(problems(cache.read(key, document(MISSION), levelled))).isEmpty();
        assertThat(cache.find(key, levelled)).isNotNull();

        level.set(AutonomyDefault.ofWorkspace(Autonomy.APPROVE));
        assertThat(cache.find(key, levelled)).isNull();
    }

    @Test
    void missionIsRefusedWhileItsModelHasNoPrice() {
        MissionCache.Key key = key(OURS, MISSION);
        assertThat(problems(read(key, MISSION))).isEmpty();

        priced.clear();
        assertThat(cache.find(key, reader)).isNull();
        assertThat(problems(read(key, MISSION))).containsExactly("NO_PRICE");

        priced.add("large");
        assertThat(cache.find(key, reader)).isNotNull();
    }

    @Test
    void invalidMissionIsNotKept() {
        String bad = MISSION.replace("\"noop\"", "\"no such tool\"");
        assertThat(problems(read(key(OURS, bad), bad))).containsExactly("UNKNOWN_TOOL");

        assertThat(cache.find(key(OURS, bad), reader)).isNull();
    }

    @Test
    void missionWithAgentsOfTheRosterIsNotKept() {
        RosterAgent ann = new RosterAgent(1, "ann", "Ann", null, null, List.of(), List.of(), 0, null,
                CallApprovals.NONE, 0, null, Map.of());
        MissionReader staffed = reader(() -> List.of(ann), () -> AutonomyDefault.PRODUCT);
        String mission = "{\"goal\": \"g\", \"agent_slug\": \"ann\"}";
        MissionCache.Key key = key(OURS, mission);

        assertThat(problems(cache.read(key, document(mission), staffed))).isEmpty();
        assertThat(cache.find(key, staffed)).isNull();
    }

    @Test
    void oldMissionsMakeRoom() {
        String filler = "x".repeat(60 << 10);
        int found = 0;
        for (int i = 0; i < 100; i++) {
            assertThat(problems(read(key(OURS, described(i, filler)), described(i, filler)))).isEmpty();
        }
        for (int i = 0; i < 100; i++) {
            found += cache.find(key(OURS, described(i, filler)), reader) == null ? 0 : 1;
        }
        assertThat(found).isBetween(1, 40);
        String huge = described(0, "x".repeat(70 << 10));
        assertThat(problems(read(key(OURS, huge), huge))).isEmpty();
        assertThat(cache.find(key(OURS, huge), reader)).isNull();
    }

    private MissionReader reader(@Nullable Supplier<List<RosterAgent>> roster, Supplier<AutonomyDefault> autonomy) {
        return new MissionReader(new MissionContext(tools, tools::timeout, models -> {
            Map<String, ModelRules.Objection> refused = new HashMap<>();
            models.stream().filter(model -> !priced.contains(model))
                    .forEach(model -> refused.put(model, ModelRules.Objection.NO_PRICE));
            return refused;
        }, roster, autonomy));
    }

    private static String described(int number, String description) {
        return "{\"name\": \"n" + number + "\", \"description\": \"" + description + "\","
                + "\"plan\": {\"tasks\": [{\"id\": \"a\", \"steps\": [{\"tool\": \"noop\"}]}]}}";
    }

    private ReadResult<CheckedMission> read(MissionCache.Key key, String mission) {
        return cache.read(key, document(mission), reader);
    }

    private static JsonNode document(String mission) {
        return ((ReadResult.Ok<JsonNode>) Documents.read(bytes(mission), Format.JSON)).value();
    }

    private static List<String> problems(ReadResult<?> result) {
        return Missions.problems(result).stream().map(PlanProblem::code).toList();
    }

    private static MissionCache.Key key(UUID workspace, String mission) {
        return MissionCache.Key.of(workspace, Format.JSON, bytes(mission));
    }

    private static byte[] bytes(String mission) {
        return mission.getBytes(StandardCharsets.UTF_8);
    }
}
