package io.keelson.server.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** After any commands, the views loaded from the database equal those decided in memory. */
@ExtendWith(Breadth.InFailures.class)
class RoundTripTest {
    private static final int RUNS = 32;
    private static final int BATCHES = Breadth.of(80, 200);

    private static final Set<String> SEEN = new HashSet<>();

    /** Each part has sequences of its own, so only all of them meet every event. */
    @AfterAll
    static void theSequencesGoEverywhere() {
        if (!Breadth.all()) {
            return;
        }
        assertThat(SEEN).contains("run_completed", "run_failed", "run_retrying", "run_cancelled", "run_skipped",
                "run_resumed", "run_escalated", "run_replanned", "run_replan_failed", "run_accepted", "agent_retrying",
                "task_carried", "task_continuing", "task_crashed", "task_retrying", "task_verification_failed",
                "task_verification_passed", "task_human_approved", "task_human_rejected", "task_retry_requested",
                "escalation_resolved", "escalation_reminded", "step_retrying", "step_lease_expired", "step_approved",
                "step_waiting", "step_skipped", "task_skipped", "step_answered");
    }

    static List<Long> seeds() {
        return Breadth.of(List.of(1L, 2L, 3L, 4L, 5L, 6L, 7L));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void loadedViewsEqualViewsInMemory(long seed) throws Exception {
        try (World world = new World()) {
            RandomRuns made = new RandomRuns(world, seed);
            Random random = new Random(~seed);
            List<UUID> runs = new ArrayList<>();
            for (int i = 0; i < BATCHES; i++) {
                List<Command> batch = made.batch(runs);
                if (runs.size() < RUNS) {
                    batch.add(made.create());
                    runs.add(batch.getLast().runId());
                }
                if (i % 5 == 0) {
                    sooner(world, runs).ifPresent(batch::add);
                }
                world.sendAll(batch);
                forgetSome(world, runs, random);
                if (random.nextInt(20) == 0) {
                    world.outage(Duration.ofSeconds(1 + random.nextInt(600)));
                }
            }
            everyRunHasEventsWithoutAGap(world);
            nothingOfAnEndedRunIsLeft(world);
            SEEN.addAll(world.query("select distinct event_type from orchestration_events"));
        }
    }

    /** A person does not wait for some backoff: chance alone hardly meets one that runs. */
    private static Optional<Command> sooner(World world, List<UUID> runs) {
        return runs.stream().map(world::view).filter(view -> view != null && view.run().state() == RunState.RUNNING)
                .flatMap(view -> view.tasks().stream()
                        .filter(task -> task.state() == TaskState.AWAITING_RETRY && task.nextRunAt() != null)
                        .<Command>map(task -> new Command.RetryTask(view.run().id(), task.id(), Actor.human("tester"))))
                .findFirst();
    }

    /** Ended runs are forgotten as committers do; of the others one in three. */
    private static void forgetSome(World world, List<UUID> runs, Random random) {
        for (UUID run : runs) {
            if (world.view(run) != null && (world.view(run).run().state().terminal() || random.nextInt(3) == 0)) {
                world.forget(run);
            }
        }
    }

    private static void everyRunHasEventsWithoutAGap(World world) throws Exception {
        assertThat(world.query("""
                select r.id from orchestration_runs r left join run_heads h on h.run_id = r.id
                 where h.run_id is null
                    or h.last_seq <> (select count(*) from orchestration_events e where e.run_id = r.id)
                    or h.last_seq <> (select max(seq) from orchestration_events e where e.run_id = r.id)
                    or 1 <> (select min(seq) from orchestration_events e where e.run_id = r.id)""")).isEmpty();
    }

    private static void nothingOfAnEndedRunIsLeft(World world) throws Exception {
        Set<String> left = new HashSet<>(world.query("""
                select r.id from orchestration_runs r
                 where r.state_type = 'terminal'
                   and (exists (select from work_queue q where q.run_id = r.id)
                     or exists (select from timers t where t.run_id = r.id)
                     or exists (select from orchestration_tasks t where t.run_id = r.id
                            and t.attempt = r.attempt_number and t.state_type <> 'terminal')
                     or exists (select from orchestration_steps s where s.run_id = r.id
                            and s.attempt_of_run = r.attempt_number and s.state_type <> 'terminal'))"""));
        assertThat(left).isEmpty();
    }
}
