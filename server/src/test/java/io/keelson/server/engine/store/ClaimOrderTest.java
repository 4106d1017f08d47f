package io.keelson.server.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.server.engine.store.RunStore.Candidate;
import io.keelson.server.engine.store.RunStore.Search;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Whose work is next: by priority, in turns of workspaces, and as far as limits leave room. */
class ClaimOrderTest extends QueuedWork {

    @Test
    void lowerPriorityFirstThenWhatWaitedLongest() throws SQLException {
        UUID late = start(world.workspace, 100);
        world.tick(Duration.ofSeconds(1));
        UUID later = start(world.workspace, 100);
        UUID urgent = start(world.workspace, 1);

        assertThat(candidates(10)).extracting(Candidate::runId).containsExactly(urgent);
        claim(urgent, "worker");
        assertThat(candidates(10)).extracting(Candidate::runId).containsExactly(late, later);
        assertThat(candidates(1)).extracting(Candidate::runId).containsExactly(late);
        assertThat(world.store.candidates(world.connection(),
                new Search(null, List.of("other"), 10, new WorkspaceRoundRobin())))
                .isEmpty();
    }

    @Test
    void workspacesTakeTurnsWithinAPriority() throws SQLException {
        UUID busy = start(world.workspace, 100);
        start(world.workspace, 100);
        start(world.workspace, 100);
        world.tick(Duration.ofSeconds(1));
        UUID other = RunFixtures.workspace(world.database);
        UUID quiet = start(other, 100);

        assertThat(candidates(2)).extracting(Candidate::runId).containsExactlyInAnyOrder(busy, quiet);
        assertThat(world.store.candidates(world.connection(), new Search(other, ECHO, 10, new WorkspaceRoundRobin())))
                .extracting(Candidate::runId)
                .containsExactly(quiet);
    }

    /** One slot at a time becomes free: the flood has waited longest, and still everybody has a turn. */
    @Test
    void lastServedWorkspaceWaitsForTheOthers() throws SQLException {
        List<UUID> workspaces = new ArrayList<>(List.of(world.workspace, RunFixtures.workspace(world.database),
                RunFixtures.workspace(world.database)));
        workspaces.sort(Comparator.comparing(UUID::toString));
        UUID flood = workspaces.get(1);
        for (int i = 0; i < 4; i++) {
            start(flood, 100);
        }
        world.tick(Duration.ofSeconds(1));
        start(workspaces.get(0), 100);
        start(workspaces.get(2), 100);
        start(workspaces.get(2), 100);
        start(flood, 200);
        start(workspaces.get(0), 50);
        WorkspaceRoundRobin workspaceRoundRobin = new WorkspaceRoundRobin();
        List<String> served = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            Candidate next = world.store.candidates(world.connection(), new Search(null, ECHO, 1, workspaceRoundRobin))
                    .getFirst();
            workspaceRoundRobin.taken(next);
            served.add(workspaces.indexOf(next.workspaceId()) + "@" + next.priority());
            world.send(new Command.Claim(next.runId(), next.taskId(), next.lane(), "node", LEASE, Actor.agent("node")));
        }

        assertThat(served).containsExactly("0@50", "0@100", "1@100", "2@100", "1@100", "2@100", "1@100", "1@100",
                "1@200");
    }

    /** However many are claimed at a time, the order is the same. */
    @Test
    void roundRobinContinuesFromClaimToClaim() throws SQLException {
        List<UUID> workspaces = new ArrayList<>(List.of(world.workspace, RunFixtures.workspace(world.database)));
        workspaces.sort(Comparator.comparing(UUID::toString));
        for (int i = 0; i < 3; i++) {
            start(workspaces.get(0), 100);
            start(workspaces.get(1), 100);
        }
        WorkspaceRoundRobin workspaceRoundRobin = new WorkspaceRoundRobin();
        List<Integer> served = new ArrayList<>();
        for (int many : List.of(1, 3, 2)) {
            for (Candidate next : world.store.candidates(world.connection(),
                    new Search(null, ECHO, many, workspaceRoundRobin))) {
                workspaceRoundRobin.taken(next);
                served.add(workspaces.indexOf(next.workspaceId()));
                world.send(new Command.Claim(next.runId(), next.taskId(), next.lane(), "node", LEASE,
                        Actor.agent("node")));
            }
        }

        assertThat(served).containsExactly(0, 1, 0, 1, 0, 1);
    }

    @Test
    void workAboveItsLimitIsSkipped() throws SQLException {
        UUID other = RunFixtures.workspace(world.database);
        UUID first = start(world.workspace, 100);
        start(world.workspace, 100);
        UUID theirs = start(other, 100);
        WorkLimits limits = new WorkLimits();
        RunFixtures.execute(world.connection(), "insert into workspace_limits values ('" + world.workspace
                + "', 'steps', 1)");
        limits.meet(world.connection(), List.of(world.workspace, other));
        world.connection().commit();
        assertThat(limits.limited(world.workspace)).isTrue();
        assertThat(limits.limited(world.workspace, "echo", "{}", null)).isFalse();
        assertThat(limits.limited(other)).isFalse();

        Search all = new Search(null, ECHO, 10, new WorkspaceRoundRobin());
        assertThat(world.store.candidates(world.connection(), all, room(limits))).hasSize(3);
        claim(first, "worker");
        assertThat(world.store.candidates(world.connection(), all, room(limits))).extracting(Candidate::runId)
                .containsExactly(theirs);
        world.connection().rollback();
    }

    @Test
    void workOfAnAgentAtItsLimitLetsOthersPass() throws SQLException {
        start(world.workspace, 1, "writer");
        UUID urgent = start(world.workspace, 1, "writer");
        UUID reader = start(world.workspace, 100, "reader");
        UUID plain = start(world.workspace, 100);
        WorkLimits limits = new WorkLimits();
        RunFixtures.execute(world.connection(), "insert into workspace_limits values ('" + world.workspace
                + "', 'agent_per_minute:writer', 60)");
        limits.meet(world.connection(), List.of(world.workspace));
        world.connection().commit();
        assertThat(limits.limited(world.workspace, "echo", "{}", "writer")).isTrue();
        assertThat(limits.limited(world.workspace, "echo", "{}", "reader")).isFalse();
        Search all = new Search(null, ECHO, 10, new WorkspaceRoundRobin());
        Search ofOne = new Search(world.workspace, ECHO, 10, new WorkspaceRoundRobin());

        WorkLimits.Capacity room = room(limits);
        List<Candidate> found = world.store.candidates(world.connection(), all, room);
        assertThat(found).extracting(Candidate::runId).contains(urgent);
        assertThat(found.stream().filter(room::take)).as("a bucket has the steps of half a second").hasSize(1);
        limits.admit(world.connection(), room);

        room = room(limits);
        assertThat(room.soonest()).isPositive();
        for (Search each : List.of(all, ofOne)) {
            assertThat(world.store.candidates(world.connection(), each, room)).extracting(Candidate::runId)
                    .containsExactly(reader, plain);
        }
        world.connection().rollback();
    }

    private WorkLimits.Capacity room(WorkLimits limits) throws SQLException {
        return limits.capacity(world.connection(), limits.workspaces());
    }
}
