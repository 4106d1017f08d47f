package io.keelson.server.engine.commit;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which commands are decided together. */
class CommitLoopTest {
    private static final String MISSION = """
            name: short
            plan:
              tasks:
                - {id: a, title: A, steps: [{name: one, tool: remote.work}]}
            """;

    /** A node that executes nothing and counts how often something was decided. */
    private static final class Bystander implements CommitListener {
        private int decided;

        @Override
        public LocalCapacity offer() {
            decided++;
            return LocalCapacity.none();
        }

        @Override
        public void settled(LocalCapacity capacity) {}

        @Override
        public void committed(ChangeSet changes, Function<UUID, @Nullable RunView> views, Instant now) {}
    }

    @Test
    void aRetryIsDecidedApartFromWhatEndsItsRun(@TempDir Path folder) throws Exception {
        Bystander node = new Bystander();
        try (Nodes nodes = new Nodes(folder)) {
            CommandQueue queue = new CommandQueue(100, 1_000, _ -> BatchPolicy.Kind.MIDDLE);
            CommitLoop loop = new CommitLoop(queue, nodes.database,
                    new BatchCommit(Nodes.storeAt(Nodes.now()).runs(), new ViewCache(1_000),
                            UuidCreator::getTimeOrderedEpoch, node, new DatabaseTime(System::nanoTime),
                            () -> Prices.NONE, List.of()),
                    new DiskSpace(nodes.database));
            NewRun run = nodes.run(MISSION, "remote.work");
            List<PendingCommand> all = Stream.of(new Command.Create(run, true, Nodes.WHO),
                    new Command.FailRun(run.id(), "not so", Nodes.WHO), new Command.Retry(run.id(), false, Nodes.WHO),
                    new Command.Pause(run.id(), null, Nodes.WHO)).map(PendingCommand::new).toList();
            all.forEach(queue::add);
            queue.close();
            loop.run();
            assertThat(all).extracting(pending -> pending.answer).extracting(CompletableFuture::join)
                    .containsOnly(Reply.CHANGED);
            assertThat(node.decided).as("batches, none of them in vain").isEqualTo(2);
            assertThat(nodes.state(run.id())).isEqualTo("paused");
            nodes.assertSound();
        }
    }
}
