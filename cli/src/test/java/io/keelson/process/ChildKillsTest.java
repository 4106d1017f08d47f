package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Run;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.RunQuery;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.core.Breadth;
import io.keelson.process.KilledNode.Point;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.CountingProxy.Write;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A run with a child that has a child, each with paid work before and after it. The server is killed as children are
 * created, when one has ended, and as its parent records that. All three must have the same story as without kills.
 */
@Breadth.InPart(3)
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class ChildKillsTest {
    private static final Duration TIMEOUT = Duration.ofMinutes(1);
    private static final int LEVELS = 3;
    private static final Write BORN = event("child_run_started");
    private static final Write ENDED = event("run_completed");
    private static final Write PARENT_INFORMED = event("child_run_ended");

    /**
     * Where the server is killed.
     *
     * @param past how many such writes precede
     */
    private record Kill(Point point, Write write, int past) {}

    /** In the order in which a run gets there. */
    private static final List<Kill> KILLS = List.of(new Kill(Point.BEFORE_COMMIT, BORN, 0),
            new Kill(Point.AFTER_COMMIT, BORN, 1), new Kill(Point.AFTER_COMMIT, ENDED, 0),
            new Kill(Point.BEFORE_COMMIT, PARENT_INFORMED, 0), new Kill(Point.AFTER_COMMIT, PARENT_INFORMED, 1));

    @Test
    void nothingIsLostOrDoneTwiceOnThreeLevels(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2));
                KilledNode node = new KilledNode(folder, url, Map.of("KEELSON_LEASE_SECONDS", "2"))) {
            node.awaitReady();
            String undisturbed = create(node.client());
            node.client().runs().start(undisturbed);
            List<String> expected = stories(node.client(), undisturbed);
            List<String> killed = stories(node.client(), killed(node, create(node.client())));
            assertThat(String.join("\n", killed)).isEqualTo(String.join("\n", expected));
            assertThat(node.client().runs().list(RunQuery.all()).items()).as("runs of both").hasSize(2 * LEVELS);
            Invariants.hold(database);
        }
    }

    private static String killed(KilledNode node, String run) throws IOException, InterruptedException {
        doom(node, KILLS.getFirst());
        try {
            node.client().runs().start(run);
        } catch (KeelsonException e) {
            assertThat(e.status()).as("no refusal: " + e.getMessage()).isZero();
        }
        node.awaitDeath();
        for (Kill next : KILLS.subList(1, KILLS.size())) {
            doom(node, next);
            node.restart();
            node.awaitDeath();
        }
        node.restart();
        node.awaitReady();
        return run;
    }

    private static void doom(KilledNode node, Kill kill) {
        node.doom(kill.point(), kill.write(), kill.past());
    }

    /** Of the run, its child and the child's. */
    private static List<String> stories(Keelson client, String run) {
        assertThat(client.runs().awaitEnd(run, TIMEOUT).state()).isEqualTo("completed");
        List<String> all = new ArrayList<>();
        String at = run;
        for (int level = 1; level <= LEVELS; level++) {
            all.addAll(Story.of(client, at));
            List<Run> children = client.runs().children(at);
            assertThat(children).as("children of level %s", level).hasSize(level < LEVELS ? 1 : 0);
            at = children.isEmpty() ? at : children.getFirst().id();
        }
        return all;
    }

    private static String create(Keelson client) {
        return client.runs().create(RunRequest.of(mission(LEVELS).config("budget", Map.of("hard_limit_usd", 2))
                .toJson())).id();
    }

    /** Each level costs another amount. */
    private static Mission mission(int level) {
        return Mission.named("level " + level).config("autonomy", Map.of("level", "full_auto")).task("a", task -> {
            task.step("before", "noop", Map.of("cost", level / 10.0));
            if (level > 1) {
                task.step("child", "run.start", mission(level - 1).toJson());
            }
            return task.step("after", "noop", Map.of("cost", level / 100.0));
        });
    }

    private static Write event(String type) {
        return new Write("insert into run_event_packs", type);
    }
}
