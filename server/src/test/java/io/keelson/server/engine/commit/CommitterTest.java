package io.keelson.server.engine.commit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.RunView;
import io.keelson.core.money.Prices;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.server.engine.Nodes;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two committing threads on one database; the test holds a commit open before its decisions. */
@Timeout(120)
class CommitterTest {
    private static final String MISSION = """
            name: short
            %s
            plan:
              tasks:
                - {id: a, title: A, steps: [{name: one, tool: remote.work}]}
            """;

    /** A node that executes nothing. The commit after {@link #hold} waits for a permit. */
    private static final class Holder implements CommitListener, Observer {
        private final AtomicBoolean holds = new AtomicBoolean();
        private final Semaphore held = new Semaphore(0);
        private final Semaphore permits = new Semaphore(0);
        private final List<Integer> batches = Collections.synchronizedList(new ArrayList<>());

        /** The next commit is held. */
        void hold() {
            holds.set(true);
        }

        @Override
        public LocalCapacity offer() {
            if (holds.getAndSet(false)) {
                held.release();
                permits.acquireUninterruptibly();
            }
            return LocalCapacity.none();
        }

        @Override
        public void settled(LocalCapacity capacity) {}

        @Override
        public void committed(ChangeSet changes, Function<UUID, @Nullable RunView> views, Instant now) {}

        @Override
        public void batchEnded(BatchPath path, int commands, long nanos) {
            batches.add(commands);
        }
    }

    private final Holder holder = new Holder();

    @Test
    void aSecondCommitRunsBesideAHeldOneButNotForItsRuns(@TempDir Path folder) throws Exception {
        try (Nodes nodes = new Nodes(folder); Committer committer = committer(nodes)) {
            NewRun run = run(nodes, "");
            List<String> answers = Collections.synchronizedList(new ArrayList<>());
            holder.hold();
            CompletableFuture<?> create = create(committer, run).thenAccept(_ -> answers.add("create"));
            holder.held.acquire();
            CompletableFuture<?> pause = pause(committer, run.id()).thenAccept(_ -> answers.add("pause"));
            CompletableFuture<?> resume = committer.submit(new Command.Resume(run.id(), Nodes.WHO), null)
                    .thenAccept(_ -> answers.add("resume"));
            CompletableFuture<?> again = pause(committer, run.id()).thenAccept(_ -> answers.add("again"));
            List<CompletableFuture<Reply>> beside = Stream.generate(() -> create(committer, run(nodes, "")))
                    .limit(BatchPolicy.ANOTHER_COMMIT).toList();
            try {
                assertThat(beside).extracting(CompletableFuture::join).containsOnly(Reply.CHANGED);
                assertThat(answers).isEmpty();
            } finally {
                holder.permits.release();
            }
            CompletableFuture.allOf(create, pause, resume, again).join();
            assertThat(answers).containsExactly("create", "pause", "resume", "again");
            assertThat(nodes.state(run.id())).isEqualTo("paused");
            nodes.assertSound();
        }
    }

    @Test
    void aRefusedBatchIsSplitInOrder(@TempDir Path folder) throws Exception {
        try (Nodes nodes = new Nodes(folder); Committer committer = committer(nodes)) {
            create(committer, run(nodes, "external_id: taken")).join();
            holder.hold();
            CompletableFuture<Reply> held = create(committer, run(nodes, ""));
            holder.held.acquire();
            holder.batches.clear();
            NewRun good = run(nodes, "");
            List<CompletableFuture<Reply>> rest = List.of(create(committer, good), pause(committer, good.id()),
                    create(committer, run(nodes, "external_id: taken")),
                    committer.submit(new Command.Resume(good.id(), Nodes.WHO), null),
                    pause(committer, good.id()), create(committer, run(nodes, "")));
            holder.permits.release();

            assertThat(held.join()).isEqualTo(Reply.CHANGED);
            for (int i = 0; i < rest.size(); i++) {
                CompletableFuture<Reply> each = rest.get(i);
                if (i == 2) {
                    assertThatThrownBy(each::join).isInstanceOf(CompletionException.class)
                            .hasMessageContaining("external_id");
                } else {
                    assertThat(each.join()).isEqualTo(Reply.CHANGED);
                }
            }
            assertThat(holder.batches.subList(0, 2)).as("the held one, then all that waited").containsExactly(1, 6);
            assertThat(nodes.state(good.id())).isEqualTo("paused");
            nodes.assertSound();
        }
    }

    @Test
    void closingAnswersAllThatWasSubmittedAndNothingAfter(@TempDir Path folder) throws Exception {
        try (Nodes nodes = new Nodes(folder)) {
            Committer committer = committer(nodes);
            holder.hold();
            List<CompletableFuture<Reply>> before = new ArrayList<>();
            before.add(create(committer, run(nodes, "")));
            holder.held.acquire();
            Stream.generate(() -> create(committer, run(nodes, ""))).limit(400).forEach(before::add);
            Thread closing = Thread.ofPlatform().start(() -> {
                try {
                    committer.close();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            holder.permits.release();
            closing.join();
            assertThat(before).allMatch(CompletableFuture::isDone);
            assertThat(before).extracting(CompletableFuture::join).containsOnly(Reply.CHANGED);
            assertThatThrownBy(create(committer, run(nodes, ""))::join)
                    .hasCauseInstanceOf(Commands.Overloaded.class);
            assertThatThrownBy(committer.submitOwn(new Command.Resume(UUID.randomUUID(), Nodes.WHO))::join)
                    .hasCauseInstanceOf(Commands.Overloaded.class);
            nodes.assertSound();
        }
    }

    private Committer committer(Nodes nodes) {
        return new Committer(nodes.database, Nodes.store().runs(), UuidCreator::getTimeOrderedEpoch, holder, 2,
                () -> Prices.NONE, List.of(holder));
    }

    private static NewRun run(Nodes nodes, String more) {
        return nodes.run(MISSION.formatted(more), "remote.work");
    }

    private static CompletableFuture<Reply> create(Committer committer, NewRun run) {
        return committer.submit(new Command.Create(run, true, Nodes.WHO), null).orTimeout(30, TimeUnit.SECONDS);
    }

    private static CompletableFuture<Reply> pause(Committer committer, UUID run) {
        return committer.submit(new Command.Pause(run, null, Nodes.WHO), null).orTimeout(30, TimeUnit.SECONDS);
    }
}
