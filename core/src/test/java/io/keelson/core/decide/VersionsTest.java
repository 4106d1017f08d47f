package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.ChangeSet.Lot;
import io.keelson.core.money.Funds;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.VersionBehavior;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.VersionRule;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which versions of workers get the steps of a run. */
class VersionsTest {
    private static final VersionRule FIRST = new VersionRule("1", null, 0, true);
    private static final VersionRule SECOND = new VersionRule("2", null, 0, true);

    private World world = World.accept(RunPolicy.DEFAULT, plan(task("a"), task("b")));
    private @Nullable VersionRule rule = FIRST;

    @BeforeEach
    void start() {
        decide(new Command.Start(world.id(), World.WHO));
    }

    private ChangeSet changes = new ChangeSet();

    private Reply decide(Command command) {
        changes = new ChangeSet();
        LocalCapacity capacity = new LocalCapacity(null, tool -> false, World.LEASE, new LocalCapacity.Slots() {
            @Override
            public boolean take(String tool) {
                return false;
            }

            @Override
            public boolean fits(Lane lane, String tool) {
                return false;
            }
        }, LocalCapacity.RemoteSlots.NONE, LocalCapacity.Limits.NONE, (workspace, tool) -> rule);
        return Decider.decide(world.view, command, changes, world.now, UUID::randomUUID, capacity, Funds.UNLIMITED);
    }

    private Reply claim(String task, String version) {
        return decide(new Command.Claim(world.id(), world.task(task).id(), 0, "w" + version, World.LEASE, Set.of(),
                version, World.WHO));
    }

    private @Nullable Lot lot(String task) {
        return changes.queue().get(new Lane(world.task(task).id(), 0)).orElseThrow().lot();
    }

    private Lot bucket(String version) {
        return Lot.of(VersionRule.bucket(world.id()), version);
    }

    @Test
    void onlyTheTargetVersionClaims() {
        assertThat(claim("a", "2")).isInstanceOf(Reply.Rejected.class);
        assertThat(lot("a")).as("the refused step goes to its lot").isEqualTo(bucket("1"));
        assertThat(claim("a", "1")).isInstanceOf(Reply.Claimed.class);
    }

    @Test
    void firstClaimPinsTheRunAndItsOtherWork() {
        assertThat(claim("a", "1")).isInstanceOf(Reply.Claimed.class);
        assertThat(changes.pins()).extracting(ChangeSet.Pin::version).containsExactly("1");
        assertThat(lot("b")).isEqualTo(Lot.pinned("1"));

        rule = SECOND;

        assertThat(claim("b", "2")).isInstanceOf(Reply.Rejected.class);
        assertThat(claim("b", "1")).isInstanceOf(Reply.Claimed.class);
        assertThat(changes.pins()).as("one version per run and tool").isEmpty();
    }

    @Test
    void latestFollowsEachPromotion() {
        rule = new VersionRule("1", null, 0, false);
        assertThat(claim("a", "1")).isInstanceOf(Reply.Claimed.class);
        assertThat(changes.pins()).isEmpty();

        rule = new VersionRule("2", null, 0, false);

        assertThat(claim("b", "1")).isInstanceOf(Reply.Rejected.class);
        assertThat(lot("b")).isEqualTo(bucket("2"));
        assertThat(claim("b", "2")).isInstanceOf(Reply.Claimed.class);
    }

    @ParameterizedTest
    @CsvSource({"PINNED, false, 1", "LATEST, true, 0"})
    void missionDecidesInPlaceOfTheRule(VersionBehavior behavior, boolean pinnedRule, int pins) {
        world = World.accept(RunPolicy.DEFAULT.with(behavior), plan(task("a"), task("b")));
        rule = new VersionRule("1", null, 0, pinnedRule);
        start();
        assertThat(claim("a", "1")).isInstanceOf(Reply.Claimed.class);
        assertThat(changes.pins()).hasSize(pins);
    }

    @Test
    void anyVersionClaimsWithoutARule() {
        claim("a", "1");
        rule = null;
        assertThat(claim("b", "7")).isInstanceOf(Reply.Claimed.class);
    }

    @ParameterizedTest
    @CsvSource({"1, 100", "10, 1000", "50, 5000", "100, 10000"})
    void rampGetsItsPartOfTheRuns(int percent, int expected) {
        VersionRule ramp = new VersionRule("1", "2", percent, true);
        long ramped = IntStream.range(0, 10_000).mapToObj(i -> new UUID(i, i * 7L))
                .filter(run -> ramp.target(run).equals("2")).count();
        assertThat(ramped).isEqualTo(expected);
        assertThat(Lot.names(ramp, "2")).hasSize(percent + 1).contains("=2");
        assertThat(Lot.names(ramp, "1")).hasSize(101 - percent).contains("=1");
        assertThat(Lot.names(ramp, "3")).containsExactly("=3");
    }
}
