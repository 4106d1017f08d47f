package io.keelson.server.api.http.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.Json;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** Requests whose query is held open while others come. */
class SharedRunReadsTest {
    private static final UUID ONE = UUID.randomUUID();
    private static final UUID ANOTHER = UUID.randomUUID();

    /** What each query was asked for. */
    private final BlockingQueue<Collection<UUID>> queries = new LinkedBlockingQueue<>();
    private final CountDownLatch open = new CountDownLatch(1);
    private final List<Thread> threads = new ArrayList<>();

    private static Map<UUID, ObjectNode> documents(Collection<UUID> runs) {
        return runs.stream().distinct().collect(
                Collectors.toMap(Function.identity(), run -> Json.object().put("id", run.toString())));
    }

    /** Queries of the first workspace are held. */
    private Map<UUID, ObjectNode> held(UUID workspace, Collection<UUID> runs) {
        queries.add(List.copyOf(runs));
        if (workspace.equals(ONE)) {
            try {
                open.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        return documents(runs);
    }

    private CompletableFuture<String> ask(SharedRunReads reads, UUID run) {
        return CompletableFuture.supplyAsync(() -> String.valueOf(reads.read(ONE, run)), task -> {
            Thread thread = Thread.ofPlatform().unstarted(task);
            threads.add(thread);
            thread.start();
        });
    }

    /** Asks for the runs while the first query is held, one after the other. */
    private List<CompletableFuture<String>> askDuringQuery(SharedRunReads reads, List<UUID> runs)
            throws InterruptedException {
        List<CompletableFuture<String>> asked = new ArrayList<>();
        for (UUID run : runs) {
            asked.add(ask(reads, run));
            if (asked.size() == 1) {
                assertThat(queries.take()).containsExactly(run);
            } else {
                Awaitility.await().until(() -> threads.getLast().getState() == Thread.State.WAITING);
            }
        }
        return asked;
    }

    private static List<UUID> ids(int count) {
        return IntStream.range(0, count).mapToObj(i -> UUID.randomUUID()).toList();
    }

    @Test
    void requestsThatComeDuringAQueryShareTheNextOne() throws Exception {
        List<UUID> runs = ids(6);
        List<CompletableFuture<String>> asked = askDuringQuery(new SharedRunReads(8, this::held), runs);
        open.countDown();

        for (int i = 0; i < runs.size(); i++) {
            assertThat(asked.get(i).join()).contains(runs.get(i).toString());
        }
        assertThat(queries).singleElement().satisfies(
                shared -> assertThat(shared).containsExactlyInAnyOrderElementsOf(runs.subList(1, runs.size())));
    }

    @Test
    void aQueryReadsNoMoreRunsThanItMay() throws Exception {
        List<UUID> runs = ids(8);
        List<CompletableFuture<String>> asked = askDuringQuery(new SharedRunReads(3, this::held), runs);
        open.countDown();

        asked.forEach(CompletableFuture::join);
        assertThat(queries).allMatch(shared -> shared.size() <= 3);
        assertThat(queries.stream().flatMap(Collection::stream))
                .containsExactlyInAnyOrderElementsOf(runs.subList(1, runs.size()));
    }

    @Test
    void workspacesDoNotWaitForEachOther() throws Exception {
        SharedRunReads reads = new SharedRunReads(8, this::held);
        UUID run = UUID.randomUUID();
        List<CompletableFuture<String>> asked = askDuringQuery(reads, ids(1));

        assertThat(String.valueOf(reads.read(ANOTHER, run))).contains(run.toString());
        open.countDown();
        asked.forEach(CompletableFuture::join);
    }

    @Test
    void aRunThatIsNotThereIsNull() {
        assertThat(new SharedRunReads(8, (workspace, runs) -> Map.of()).read(ONE, UUID.randomUUID())).isNull();
    }

    @Test
    void aQueryThatFailsFailsOneRequestOnly() throws Exception {
        AtomicInteger count = new AtomicInteger();
        SharedRunReads reads = new SharedRunReads(8, (workspace, runs) -> {
            Map<UUID, ObjectNode> found = held(workspace, runs);
            if (count.incrementAndGet() == 2) {
                throw new IllegalStateException("refused");
            }
            return found;
        });
        List<CompletableFuture<String>> asked = askDuringQuery(reads, ids(4));
        open.countDown();

        List<String> answers = asked.stream().map(each -> each.exceptionally(Throwable::getMessage).join()).toList();
        assertThat(answers).filteredOn(answer -> answer.contains("refused")).hasSize(1);
        assertThat(answers).filteredOn(answer -> answer.contains("\"id\"")).hasSize(3);
    }
}
