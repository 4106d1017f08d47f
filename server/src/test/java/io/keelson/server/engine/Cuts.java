package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.server.base.db.CountingProxy;
import io.keelson.server.base.db.CountingProxy.Loss;
import io.keelson.server.base.db.CountingProxy.Write;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.awaitility.Awaitility;

/** Cuts a node's connections to the database in the middle of commits: the request is lost, or the answer. */
final class Cuts {
    private static final int MAX_LET_THROUGH = 5;

    private final CountingProxy proxy;
    private final Write write;
    private final Random random;
    private final AtomicInteger cuts = new AtomicInteger();

    /** @param write what a commit does that is cut */
    Cuts(CountingProxy proxy, Write write, Random random) {
        this.proxy = proxy;
        this.write = write;
        this.random = random;
    }

    /**
     * Runs missions on a node until there were so many cuts.
     *
     * @param also done with each, by its number
     * @return all runs, of which some may be under way
     */
    List<UUID> during(Nodes nodes, String mission, int most, IntConsumer also) throws IOException {
        Engine engine = nodes.node(Duration.ofSeconds(2));
        List<UUID> runs = new ArrayList<>();
        while (cuts.get() < most) {
            int before = cuts.get();
            proxy.lose(random.nextBoolean() ? Loss.REQUEST : Loss.ANSWER, write, random.nextInt(MAX_LET_THROUGH),
                    cuts::incrementAndGet);
            while (cuts.get() == before) {
                UUID run = submit(engine, nodes.run(mission));
                runs.add(run);
                also.accept(runs.size());
                CompletableFuture<?> ended = engine.ended(run).toCompletableFuture();
                Awaitility.await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(5))
                        .until(() -> cuts.get() > before || ended.isDone() || nodes.state(run).equals("completed"));
                ended.cancel(false);
            }
        }
        return runs;
    }

    int count() {
        return cuts.get();
    }

    /** Answered in the end, changed or already so. */
    private static UUID submit(Engine engine, NewRun run) {
        assertThat(engine.submit(new Command.Create(run, true, Nodes.WHO)).join()).isInstanceOf(Reply.Done.class);
        return run.id();
    }
}
