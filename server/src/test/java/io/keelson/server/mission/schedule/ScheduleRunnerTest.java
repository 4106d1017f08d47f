package io.keelson.server.mission.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.api.schedule.ScheduleDefinition;
import io.keelson.core.Breadth;
import io.keelson.core.schedule.CatchUp;
import io.keelson.core.schedule.Overlap;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.mission.schedule.RunSubmitter.Outcome;
import io.keelson.server.tenant.auth.Bootstrap;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.json.JsonMapper;

/** Times that come, are missed and overlap, on a real database whose clock is the test's. */
@Breadth.Spread
class ScheduleRunnerTest {

    private static final Instant NOON = Instant.parse("2026-11-21T12:00:00Z");
    private static final UUID WORKSPACE = Bootstrap.DEFAULT_WORKSPACE;

    /** Simulates a process that ends at once: no code catches it. */
    private static final class Killed extends Error {
        private static final long serialVersionUID = 1L;
    }

    /** The runs that there are, by their ids; a second one of an id would be found out. */
    private static final class Runs implements RunSubmitter {
        final Map<UUID, ScheduledTimeRow> made = new LinkedHashMap<>();
        final Set<UUID> open = new HashSet<>();
        int asked;
        @Nullable Error before;
        @Nullable Error after;
        @Nullable Outcome refuse;

        @Override
        public synchronized Outcome make(ScheduleRow schedule, ScheduledTimeRow time) {
            asked++;
            die(before);
            if (refuse != null) {
                return refuse;
            }
            if (made.putIfAbsent(time.runId(), time) == null) {
                open.add(time.runId());
            }
            die(after);
            return new Outcome.Submitted();
        }

        private static void die(@Nullable Error how) {
            if (how != null) {
                throw how;
            }
        }

        @Override
        public synchronized boolean made(ScheduledTimeRow time) {
            return made.containsKey(time.runId());
        }

        @Override
        public synchronized void cancel(UUID run, String reason) {
            open.remove(run);
        }

        @Override
        public synchronized Set<UUID> ended(Connection c, Collection<UUID> runs) {
            Set<UUID> ended = new HashSet<>(runs);
            ended.removeAll(open);
            return ended;
        }

        synchronized List<String> times() {
            return made.values().stream().map(time -> time.scheduledFor().toString().substring(11, 16)).toList();
        }
    }

    private final AtomicReference<Instant> now = new AtomicReference<>(NOON.minusSeconds(30));
    private final Runs runs = new Runs();
    private Database database;
    private ScheduleStore schedules;
    private ScheduledTimes scheduledTimes;
    private ScheduleRunner scheduleRunner;

    @BeforeEach
    void start() {
        database = TestDatabase.create();
        Bootstrap.ensureWorkspace(database);
        schedules = new ScheduleStore(now::get);
        scheduledTimes = new ScheduledTimes(UuidCreator::getTimeOrderedEpoch);
        scheduleRunner = node();
    }

    @AfterEach
    void stop() {
        database.close();
    }

    private ScheduleRunner node() {
        return new ScheduleRunner(database, schedules, scheduledTimes, runs);
    }

    private static ScheduleDefinition spec(String name, String cron, Overlap overlap, CatchUp catchUp) {
        return spec(name, cron, overlap, catchUp, Duration.ZERO, null, null);
    }

    private static ScheduleDefinition spec(String name, String cron, Overlap overlap, CatchUp catchUp,
            Duration jitter, @Nullable Instant endAt, @Nullable Integer maxRuns) {
        return new ScheduleDefinition(name, cron, "UTC", null, JsonMapper.shared().createObjectNode(),
                JsonMapper.shared().createObjectNode(), overlap.wire(), catchUp.wire(), 86_400, jitter.toSeconds(),
                endAt, maxRuns, null);
    }

    private ScheduleRow add(ScheduleDefinition spec) {
        UUID id = UUID.randomUUID();
        boolean added = database.inTransaction(c -> schedules.insert(c, id, WORKSPACE, spec, null, "ann"));
        assertThat(added).isTrue();
        return schedule(id);
    }

    private ScheduleRow schedule(UUID id) {
        return database.withConnection(c -> schedules.find(c, WORKSPACE, id)).orElseThrow();
    }

    private List<String> states(ScheduleRow schedule) {
        return database.withConnection(c -> scheduledTimes.list(c, WORKSPACE, schedule.id(), null, 1_000)).reversed()
                .stream()
                .map(time -> time.scheduledFor().toString().substring(11, 16) + " " + time.state().wire()).toList();
    }

    private void pause(ScheduleRow schedule, boolean paused) {
        database.runInTransaction(c -> schedules.pause(c, schedule(schedule.id()), paused));
    }

    private void at(String time) throws InterruptedException {
        now.set(Instant.parse("2026-11-21T" + time + ":00Z"));
        scheduleRunner.look();
    }

    /** Every ten minutes; the run of 12:00 lasts until 12:25, all others are over in no time. */
    private List<String> anHour(Overlap overlap) throws InterruptedException {
        ScheduleRow schedule = add(spec("s", "*/10 * * * *", overlap, CatchUp.SKIP));
        for (int minute = 0; minute < 60; minute++) {
            at("12:%02d".formatted(minute));
            if (minute == 0) {
                assertThat(runs.open).hasSize(1);
            } else if (minute >= 25) {
                runs.open.clear();
            }
        }
        return states(schedule);
    }

    @Test
    void allowedRunsOverlap() throws Exception {
        assertThat(anHour(Overlap.ALLOW)).allMatch(each -> each.endsWith("made")).hasSize(6);
        assertThat(runs.times()).containsExactly("12:00", "12:10", "12:20", "12:30", "12:40", "12:50");
    }

    @Test
    void skippedTimesCreateNoRunWhileOneIsOpen() throws Exception {
        assertThat(anHour(Overlap.SKIP)).containsExactly("12:00 made", "12:10 skipped", "12:20 skipped", "12:30 made",
                "12:40 made", "12:50 made");
    }

    @Test
    void queuedOneWaitsForTheOpenOneToEnd() throws Exception {
        assertThat(anHour(Overlap.QUEUE)).containsExactly("12:00 made", "12:10 made", "12:20 skipped", "12:30 made",
                "12:40 made", "12:50 made");
        assertThat(runs.made.values()).filteredOn(time -> time.state() == ScheduledTimeRow.State.QUEUED).hasSize(1);
    }

    @Test
    void theOpenOneIsCancelled() throws Exception {
        ScheduleRow schedule = add(spec("s", "*/10 * * * *", Overlap.CANCEL_RUNNING, CatchUp.SKIP));
        at("12:00");
        UUID first = runs.made.keySet().iterator().next();
        at("12:10");

        assertThat(runs.open).hasSize(1).doesNotContain(first);
        assertThat(states(schedule)).containsExactly("12:00 made", "12:10 made");
    }

    @ParameterizedTest
    @EnumSource(CatchUp.class)
    void aNightWithoutAServer(CatchUp catchUp) throws Exception {
        ScheduleRow schedule = add(spec("s", "0 * * * *", Overlap.ALLOW, catchUp));
        at("12:00");
        at("18:20");
        ScheduleRow after = schedule(schedule.id());
        List<String> expected = switch (catchUp) {
            case SKIP -> List.of("12:00");
            case LATEST -> List.of("12:00", "18:00");
            case ALL -> List.of("12:00", "13:00", "14:00", "15:00", "16:00", "17:00", "18:00");
        };
        assertThat(runs.times()).isEqualTo(expected);
        assertThat(after.shown().timesMissed()).isEqualTo(7 - expected.size());
        assertThat(after.shown().runsMade()).isEqualTo(expected.size());
        assertThat(after.nextRunAt()).isEqualTo("2026-11-21T19:00:00Z");
        at("18:21");
        assertThat(runs.made).hasSize(expected.size());
    }

    @Test
    void aKillAfterTheRunWasMadeMakesNoSecondOne() throws Exception {
        ScheduleRow schedule = add(spec("s", "0 * * * *", Overlap.SKIP, CatchUp.SKIP));
        runs.after = new Killed();
        assertThatThrownBy(() -> at("12:00")).isInstanceOf(Killed.class);
        assertThat(states(schedule)).containsExactly("12:00 due");
        assertThat(schedule(schedule.id()).nextRunAt()).isEqualTo("2026-11-21T13:00:00Z");
        runs.after = null;
        runs.open.clear();

        scheduleRunner = node();
        at("12:01");

        assertThat(runs.asked).isEqualTo(2);
        assertThat(runs.times()).containsExactly("12:00");
        assertThat(states(schedule)).containsExactly("12:00 made");
        at("13:00");
        assertThat(runs.times()).containsExactly("12:00", "13:00");
    }

    @Test
    void aKillBeforeTheRunIsMadeLosesNone() throws Exception {
        ScheduleRow schedule = add(spec("s", "0 * * * *", Overlap.QUEUE, CatchUp.ALL));
        runs.before = new Killed();
        for (String time : List.of("12:00", "12:01", "13:00")) {
            assertThatThrownBy(() -> at(time)).isInstanceOf(Killed.class);
        }
        runs.before = null;
        at("13:01");

        assertThat(states(schedule)).containsExactly("12:00 made", "13:00 queued");
        runs.open.clear();
        at("13:02");
        assertThat(runs.times()).containsExactly("12:00", "13:00");
    }

    @Test
    void nodesAtOnceMakeEachRunOnce() throws Exception {
        for (int i = 0; i < 20; i++) {
            add(spec("s" + i, "* * * * *", Overlap.ALLOW, CatchUp.ALL));
        }
        List<ScheduleRunner> nodes = List.of(node(), node(), node());
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int minute = 0; minute < 10; minute++) {
                now.set(NOON.plusSeconds(60L * minute));
                List<Future<?>> looks = new ArrayList<>();
                for (ScheduleRunner node : nodes) {
                    looks.add(threads.submit(() -> {
                        node.look();
                        return null;
                    }));
                }
                for (Future<?> look : looks) {
                    look.get();
                }
            }
        }
        scheduleRunner.look();

        assertThat(runs.made).hasSize(200);
        assertThat(runs.made.values().stream().map(time -> time.scheduleId() + " " + time.scheduledFor())).hasSize(200)
                .doesNotHaveDuplicates();
        assertThat(database.withConnection(c -> schedules.list(c, WORKSPACE, null, null, 100)).items())
                .allMatch(each -> each.shown().runsMade() == 10);
    }

    @Test
    void endsWithItsNumberOfRunsOrItsTime() throws Exception {
        ScheduleRow three = add(spec("three", "0 * * * *", Overlap.ALLOW, CatchUp.ALL, Duration.ZERO, null, 3));
        ScheduleRow early = add(spec("early", "0 * * * *", Overlap.ALLOW, CatchUp.ALL, Duration.ZERO,
                Instant.parse("2026-11-21T13:30:00Z"), null));
        at("12:00");
        at("18:00");

        assertThat(states(three)).filteredOn(each -> each.endsWith("made")).containsExactly("12:00 made", "13:00 made",
                "14:00 made");
        assertThat(states(early)).containsExactly("12:00 made", "13:00 made");
        assertThat(schedule(three.id()).nextRunAt()).isNull();
        assertThat(schedule(early.id()).nextRunAt()).isNull();
        int made = runs.made.size();
        at("19:00");
        assertThat(runs.made).hasSize(made);
    }

    @Test
    void jitterMakesItLaterButNotForAnotherTime() throws Exception {
        ScheduleRow schedule =
                add(spec("j", "0 * * * *", Overlap.ALLOW, CatchUp.SKIP, Duration.ofMinutes(30), null, null));
        at("12:00");
        ScheduledTimeRow time =
                database.withConnection(c -> scheduledTimes.list(c, WORKSPACE, schedule.id(), null, 1)).getFirst();
        assertThat(Duration.between(NOON, time.fireAt())).isBetween(Duration.ZERO, Duration.ofMinutes(30));
        now.set(time.fireAt().minusMillis(1));
        scheduleRunner.look();
        assertThat(runs.made).isEmpty();
        now.set(time.fireAt());
        scheduleRunner.look();
        assertThat(runs.times()).containsExactly("12:00");
    }

    @Test
    void pausedScheduleSubmitsNothingLater() throws Exception {
        ScheduleRow schedule = add(spec("p", "0 * * * *", Overlap.ALLOW, CatchUp.ALL));
        at("12:00");
        pause(schedule, true);
        assertThat(schedule(schedule.id()).nextRunAt()).isNull();
        at("15:30");
        pause(schedule, false);
        at("16:00");

        assertThat(runs.times()).containsExactly("12:00", "16:00");
    }

    @Test
    void pausedItMakesNoRunOfAQueuedTimeEither() throws Exception {
        ScheduleRow schedule = add(spec("q", "0 * * * *", Overlap.QUEUE, CatchUp.ALL));
        at("12:00");
        at("13:00");
        assertThat(states(schedule)).containsExactly("12:00 made", "13:00 queued");
        pause(schedule, true);
        runs.open.clear();
        at("13:01");
        assertThat(states(schedule)).containsExactly("12:00 made", "13:00 skipped");
        ScheduledTimeRow skipped =
                database.withConnection(c -> scheduledTimes.list(c, WORKSPACE, schedule.id(), null, 9)).getFirst();
        assertThat(skipped.errorCode()).isEqualTo("SCHEDULE_PAUSED");
        database.runInTransaction(c -> scheduleRunner.trigger(c, schedule));
        at("13:02");
        assertThat(runs.times()).containsExactly("12:00", "13:01");

        runs.open.clear();
        pause(schedule, false);
        at("14:00");
        assertThat(runs.times()).containsExactly("12:00", "13:01", "14:00");
    }

    @Test
    void pausedScheduleSubmitsNoRunAfterItsJitter() throws Exception {
        ScheduleRow schedule =
                add(spec("w", "0 * * * *", Overlap.ALLOW, CatchUp.SKIP, Duration.ofMinutes(30), null, null));
        at("12:00");
        pause(schedule, true);
        at("12:30");

        assertThat(runs.made).isEmpty();
        assertThat(states(schedule)).containsExactly("12:00 skipped");
    }

    @Test
    void aRunThatWasMadeBeforeThePauseIsNoted() throws Exception {
        ScheduleRow schedule = add(spec("n", "0 * * * *", Overlap.SKIP, CatchUp.SKIP));
        runs.after = new Killed();
        assertThatThrownBy(() -> at("12:00")).isInstanceOf(Killed.class);
        runs.after = null;
        pause(schedule, true);
        at("12:01");

        assertThat(states(schedule)).containsExactly("12:00 made");
        assertThat(schedule(schedule.id()).shown().runsMade()).isEqualTo(1);
    }

    @Test
    void manualAndBackfilledRunsIgnorePolicies() throws Exception {
        ScheduleRow schedule = add(spec("b", "0 * * * *", Overlap.SKIP, CatchUp.SKIP));
        at("12:00");
        database.runInTransaction(c -> scheduleRunner.trigger(c, schedule));
        List<Instant> times = schedule.rule().between(Instant.parse("2026-11-21T08:00:00Z"),
                Instant.parse("2026-11-21T10:00:00Z"), 10);
        for (int again = 0; again < 2; again++) {
            database.runInTransaction(c -> scheduleRunner.backfill(c, schedule, times));
        }
        at("12:01");

        assertThat(runs.times()).containsExactlyInAnyOrder("12:00", "12:00", "08:00", "09:00", "10:00");
        assertThat(schedule(schedule.id()).shown().runsMade()).isEqualTo(1);
        at("13:00");
        assertThat(states(schedule)).contains("13:00 skipped");
    }

    @Test
    void aTimeOfLongAgoIsBackfilledOnceHoweverOftenItIsAskedFor() throws Exception {
        ScheduleRow schedule = add(spec("o", "0 * * * *", Overlap.ALLOW, CatchUp.SKIP));
        List<Instant> times = List.of(Instant.parse("2025-11-21T08:00:00Z"), Instant.parse("2025-11-21T09:00:00Z"));
        for (String next : List.of("12:00", "13:00", "14:00")) {
            database.runInTransaction(c -> scheduleRunner.backfill(c, schedule, times));
            at(next);
        }

        assertThat(runs.times()).containsExactlyInAnyOrder("08:00", "09:00", "12:00", "13:00", "14:00");
    }

    @Test
    void failedSubmissionIsReportedAndTheNextOneTried() throws Exception {
        ScheduleRow schedule = add(spec("f", "0 * * * *", Overlap.SKIP, CatchUp.SKIP));
        runs.refuse = new Outcome.Refused("INSUFFICIENT_CREDITS", "too poor");
        at("12:00");
        runs.refuse = null;
        at("13:00");

        assertThat(states(schedule)).containsExactly("12:00 failed", "13:00 made");
        ScheduledTimeRow failed =
                database.withConnection(c -> scheduledTimes.list(c, WORKSPACE, schedule.id(), null, 9)).getLast();
        assertThat(failed.errorCode()).isEqualTo("INSUFFICIENT_CREDITS");
    }
}
