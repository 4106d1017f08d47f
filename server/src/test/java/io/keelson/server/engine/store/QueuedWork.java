package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.RunFixtures.run;
import static io.keelson.server.engine.store.RunFixtures.step;
import static io.keelson.server.engine.store.RunFixtures.task;

import io.keelson.core.decide.StepRow;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.server.engine.store.RunStore.Candidate;
import io.keelson.server.engine.store.RunStore.Expired;
import io.keelson.server.engine.store.RunStore.Search;
import io.keelson.server.engine.store.queue.LeaseHeartbeats;
import io.keelson.server.engine.store.queue.LeaseHeartbeats.Beat;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;

/** Runs of one step whose work is queued, claimed, and lost. */
public abstract class QueuedWork {
    public static final Duration LEASE = Duration.ofSeconds(30);
    static final List<String> ECHO = List.of("echo");

    public final World world = new World();
    public final LeaseHeartbeats heartbeats = new LeaseHeartbeats(() -> world.now);
    private long ids;

    @AfterEach
    void close() throws SQLException {
        world.close();
    }

    public UUID start(UUID workspace, int priority) throws SQLException {
        return start(workspace, priority, task("a", List.of(), step("one")));
    }

    /** Starts a run whose task an agent of the roster does. */
    UUID start(UUID workspace, int priority, String agent) throws SQLException {
        return start(workspace, priority, RunFixtures.task("a", agent, step("one")));
    }

    private UUID start(UUID workspace, int priority, TaskSpec task) throws SQLException {
        var made = run(new UUID(9, ++ids), workspace, RunPolicy.DEFAULT, task);
        world.send(new Command.Create(new NewRun(made.id(), made.workspaceId(), made.name(), null,
                made.goal(), made.plan(), made.planJson(), made.configJson(), made.policy(), made.inputsJson(),
                made.tagsJson(), null, priority, "api", null, null, "tester"), true, Actor.human("tester")));
        return made.id();
    }

    public StepRow claim(UUID run, String holder) throws SQLException {
        Candidate found = candidates(10).stream().filter(c -> c.runId().equals(run)).findFirst().orElseThrow();
        Reply reply = world.send(new Command.Claim(run, found.taskId(), found.lane(), holder, LEASE,
                Actor.agent(holder)));
        return world.view(run).step(((Reply.Claimed) reply).assignment().stepId());
    }

    List<Candidate> candidates(int limit) throws SQLException {
        return world.store.candidates(world.connection(), new Search(null, ECHO, limit, new WorkspaceRoundRobin()));
    }

    public List<Expired> expired() throws SQLException {
        return world.store.expired(world.connection(), 10);
    }

    public Reply expire(Expired found) throws SQLException {
        return world.send(new Command.LeaseExpired(found.runId(), found.stepId(), found.epoch(),
                found.lease(), Actor.RECONCILER));
    }

    public Map<UUID, Instant> beat(StepRow step, String holder, int epoch) throws SQLException {
        Map<UUID, Instant> extended = heartbeats.beat(world.connection(), world.workspace, holder,
                List.of(new Beat(step.id(), epoch, null, null, null)));
        world.connection().commit();
        return extended;
    }
}
