package io.keelson.server.base.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Questions whose first query is held while others come. */
class SharedReadsTest {
    private final BlockingQueue<List<Integer>> queries = new LinkedBlockingQueue<>();
    private final CountDownLatch open = new CountDownLatch(1);
    private final List<Thread> threads = new ArrayList<>();

    private List<Integer> parts(List<Integer> questions) {
        queries.add(List.copyOf(questions));
        try {
            open.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return questions.stream().map(each -> 100 / (each - 7)).toList();
    }

    private CompletableFuture<Integer> ask(SharedReads<Integer, Integer> reads, int question)
            throws InterruptedException {
        CompletableFuture<Integer> answer = CompletableFuture.supplyAsync(() -> reads.read(question), task -> {
            threads.add(Thread.ofPlatform().unstarted(task));
            threads.getLast().start();
        });
        if (threads.size() == 1) {
            assertThat(queries.take()).containsExactly(question);
        } else {
            Awaitility.await().until(() -> threads.getLast().getState() == Thread.State.WAITING);
        }
        return answer;
    }

    @Test
    void questionsDuringAQueryShareTheNextOnes() throws Exception {
        SharedReads<Integer, Integer> reads = new SharedReads<>(3, this::parts);
        List<CompletableFuture<Integer>> answers = new ArrayList<>();
        for (int question : List.of(8, 9, 11, 9, 12)) {
            answers.add(ask(reads, question));
        }

        open.countDown();

        assertThat(answers.stream().map(CompletableFuture::join)).containsExactly(100, 50, 25, 50, 20);
        assertThat(queries).containsExactly(List.of(9, 11, 9), List.of(12));
    }

    @Test
    void aFailureIsThatOfTheThreadThatHasAsked() throws Exception {
        SharedReads<Integer, Integer> reads = new SharedReads<>(3, this::parts);
        CompletableFuture<Integer> first = ask(reads, 8);
        CompletableFuture<Integer> failing = ask(reads, 7);
        CompletableFuture<Integer> other = ask(reads, 9);

        open.countDown();

        assertThat(first.join()).isEqualTo(100);
        assertThatThrownBy(failing::join).hasCauseInstanceOf(ArithmeticException.class);
        assertThat(other.join()).isEqualTo(50);
    }
}
