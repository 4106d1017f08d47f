package io.keelson.server.engine.commit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which commands a committing thread gets, and when. */
@Timeout(60)
class CommandQueueTest {
    private static final int ENOUGH = BatchPolicy.ANOTHER_COMMIT;

    private final CommandQueue queue = new CommandQueue(1_000_000, Long.MAX_VALUE,
            command -> command instanceof Command.FailRun ? BatchPolicy.Kind.BEGIN : BatchPolicy.Kind.MIDDLE);

    @Test
    void commandsOfARunWaitForTheEndOfItsCommit() throws Exception {
        UUID run = UUID.randomUUID();
        add(run, 1, 2);
        List<PendingCommand> first = queue.take();
        assertThat(numbers(first)).containsExactly(1, 2);

        add(run, 3, 4);
        add(UUID.randomUUID(), IntStream.rangeClosed(101, 100 + ENOUGH).toArray());
        List<PendingCommand> beside = queue.take();
        assertThat(numbers(beside)).hasSize(ENOUGH).doesNotContain(3, 4);

        end(first);
        end(beside);
        assertThat(numbers(queue.take())).containsExactly(3, 4);
    }

    @Test
    void aSecondCommitBeginsWithEnoughCommands() throws Exception {
        add(UUID.randomUUID(), 0);
        queue.take();
        others(ENOUGH - 1);

        FutureTask<List<PendingCommand>> second = new FutureTask<>(queue::take);
        Thread thread = Thread.ofPlatform().start(second);
        Awaitility.await().until(() -> thread.getState() == Thread.State.WAITING);
        assertThat(second.isDone()).isFalse();
        others(1);
        assertThat(second.get(30, TimeUnit.SECONDS)).hasSize(ENOUGH);
    }

    @Test
    void theThreadThatSleptLastIsWoken() throws Exception {
        FutureTask<List<PendingCommand>> first = new FutureTask<>(queue::take);
        FutureTask<List<PendingCommand>> last = new FutureTask<>(queue::take);
        for (FutureTask<List<PendingCommand>> each : List.of(first, last)) {
            Thread thread = Thread.ofPlatform().start(each);
            Awaitility.await().until(() -> thread.getState() == Thread.State.WAITING);
        }
        others(1);
        List<PendingCommand> batch = last.get(30, TimeUnit.SECONDS);
        assertThat(batch).hasSize(1);
        assertThat(first.isDone()).isFalse();
        queue.close();
        assertThat(first.get(30, TimeUnit.SECONDS)).isEmpty();
        end(batch);
    }

    @Test
    void twoCommitsShareTheCommandsThatAreEnoughForBoth() throws Exception {
        others(2 * ENOUGH - 1);
        List<PendingCommand> all = queue.take();
        assertThat(all).hasSize(2 * ENOUGH - 1);
        end(all);

        others(2 * ENOUGH + 1);
        assertThat(queue.take()).hasSize(ENOUGH + 1);
        assertThat(queue.take()).as("beside it").hasSize(ENOUGH);
    }

    @Test
    void aRunIsNotDividedBetweenTwoCommits() throws Exception {
        UUID large = UUID.randomUUID();
        add(large, IntStream.range(0, 4 * ENOUGH).toArray());
        others(ENOUGH);
        assertThat(queue.take()).hasSize(4 * ENOUGH).allMatch(pending -> pending.command.runId().equals(large));
        assertThat(queue.take()).as("beside it").hasSize(ENOUGH);
    }

    @Test
    void commandsOfRunsInACommitDoNotCountForASecondOne() throws Exception {
        UUID run = UUID.randomUUID();
        add(run, 0);
        List<PendingCommand> first = queue.take();
        add(run, IntStream.rangeClosed(1, 10 * ENOUGH).toArray());

        FutureTask<List<PendingCommand>> second = new FutureTask<>(queue::take);
        Thread thread = Thread.ofPlatform().start(second);
        Awaitility.await().until(() -> thread.getState() == Thread.State.WAITING);
        end(first);
        assertThat(queue.take()).hasSize(10 * ENOUGH);
        queue.close();
        assertThat(second.get(30, TimeUnit.SECONDS)).isEmpty();
    }

    @Test
    void fewerCommandsAreTakenByTheThreadThatEndsItsCommit() throws Exception {
        add(UUID.randomUUID(), 0);
        List<PendingCommand> first = queue.take();
        others(ENOUGH - 1);
        end(first);
        assertThat(queue.take()).hasSize(ENOUGH - 1);
    }

    @Test
    void commandsOnTasksHaveCommitsOfTheirOwn() throws Exception {
        others(BatchPolicy.COMMIT_BESIDE);
        onTasks(BatchPolicy.COMMIT_ON_TASKS);
        List<PendingCommand> tasks = queue.take();
        assertThat(tasks).hasSize(BatchPolicy.COMMIT_ON_TASKS).allMatch(CommandQueueTest::onTask);
        List<PendingCommand> steps = queue.take();
        assertThat(steps).as("beside it").hasSize(BatchPolicy.COMMIT_BESIDE)
                .noneMatch(CommandQueueTest::onTask);

        onTasks(ENOUGH);
        assertThat(queue.take()).as("a second one of this line").hasSize(ENOUGH);
    }

    @Test
    void aFewCommandsOnStepsWaitForTheEndOfACommitOnTasks() throws Exception {
        onTasks(1);
        List<PendingCommand> task = queue.take();
        others(BatchPolicy.COMMIT_BESIDE - 1);
        FutureTask<List<PendingCommand>> second = new FutureTask<>(queue::take);
        Thread thread = Thread.ofPlatform().start(second);
        Awaitility.await().until(() -> thread.getState() == Thread.State.WAITING);
        others(1);
        assertThat(second.get(30, TimeUnit.SECONDS)).hasSize(BatchPolicy.COMMIT_BESIDE);
        end(second.get());

        others(1);
        end(task);
        assertThat(queue.take()).hasSize(1);
    }

    @Test
    void aFewCommandsOnTasksWaitForOneCommitOnSteps() throws Exception {
        others(3);
        onTasks(1);
        List<PendingCommand> steps = queue.take();
        assertThat(steps).hasSize(3).noneMatch(CommandQueueTest::onTask);
        List<PendingCommand> task = queue.take();
        assertThat(task).as("beside it").hasSize(1).allMatch(CommandQueueTest::onTask);
        end(task);

        onTasks(1);
        FutureTask<List<PendingCommand>> second = new FutureTask<>(queue::take);
        Thread thread = Thread.ofPlatform().start(second);
        Awaitility.await().until(() -> thread.getState() == Thread.State.WAITING);
        others(2);
        end(steps);
        assertThat(queue.take()).hasSize(2).noneMatch(CommandQueueTest::onTask);
        assertThat(second.get(30, TimeUnit.SECONDS)).as("once another one has begun").hasSize(1);
    }

    @Test
    void manyCommandsOnTasksDoNotKeepOneOnAStepWaiting() throws Exception {
        onTasks(ENOUGH);
        List<PendingCommand> first = queue.take();
        others(1);
        onTasks(ENOUGH);
        List<PendingCommand> second = queue.take();
        onTasks(ENOUGH);
        end(first);
        List<PendingCommand> third = queue.take();
        onTasks(ENOUGH);
        end(second);
        assertThat(Stream.of(first, second, third)).allMatch(batch -> batch.size() == ENOUGH);
        assertThat(queue.take()).hasSize(1).noneMatch(CommandQueueTest::onTask);
        end(third);
        assertThat(queue.take()).hasSize(ENOUGH).allMatch(CommandQueueTest::onTask);
    }

    @Test
    void manyCommandsOnStepsDoNotKeepOneOnATaskWaiting() throws Exception {
        others(ENOUGH);
        List<PendingCommand> first = queue.take();
        onTasks(1);
        others(ENOUGH);
        assertThat(queue.take()).hasSize(ENOUGH).noneMatch(CommandQueueTest::onTask);
        others(ENOUGH);
        end(first);
        assertThat(queue.take()).hasSize(1).allMatch(CommandQueueTest::onTask);
    }

    @Test
    void aSingleCommandOnATaskIsNotDelayed() throws Exception {
        onTasks(1);
        assertThat(queue.take()).hasSize(1);
    }

    @Test
    void aRunWithManyCommandsDelaysNoOther() throws Exception {
        UUID large = UUID.randomUUID();
        add(large, IntStream.range(0, 1_000).toArray());
        others(3);
        List<PendingCommand> first = queue.take();
        assertThat(first).hasSize(300).allMatch(pending -> pending.command.runId().equals(large));
        add(large, IntStream.range(1_000, 1_100).toArray());
        end(first);

        List<PendingCommand> next = queue.take();
        assertThat(next.subList(0, 3)).noneMatch(pending -> pending.command.runId().equals(large));
        assertThat(numbers(next.subList(3, 300))).startsWith(300, 301);
    }

    @Test
    void boundsCountWhatIsUnanswered() throws Exception {
        CommandQueue small = new CommandQueue(3, 100, _ -> BatchPolicy.Kind.MIDDLE);
        PendingCommand big = signal(1_000);
        assertThat(small.offer(big)).as("alone").isTrue();
        assertThat(small.offer(signal(1))).as("text beside it").isFalse();
        List<PendingCommand> batch = small.take();
        assertThat(small.offer(signal(1))).as("not answered yet").isFalse();
        small.answered(batch);

        assertThat(Stream.of(60, 40, 1, 0, 0).map(length -> small.offer(signal(length))))
                .containsExactly(true, true, false, true, false);
        assertThat(small.add(signal(1_000))).as("an own command").isTrue();
        small.release(batch);
        assertThat(small.take()).hasSize(4);
    }

    @Test
    void aClosedQueueIsEmptied() throws Exception {
        UUID run = UUID.randomUUID();
        add(run, 1);
        List<PendingCommand> first = queue.take();
        add(run, 2);
        queue.close();

        assertThat(queue.take()).as("for a thread beside the commit").isEmpty();
        assertThat(queue.add(pending(run, 3))).isFalse();
        assertThat(queue.offer(pending(run, 3))).isFalse();
        end(first);
        List<PendingCommand> second = queue.take();
        assertThat(numbers(second)).containsExactly(2);
        end(second);
        assertThat(queue.take()).isEmpty();
    }

    /** Threads that submit and threads that commit, all at once: nothing is lost, doubled or out of order. */
    @Test
    void aRunIsInOneCommitAtATimeAndInOrder() throws Exception {
        int each = 5_000;
        Semaphore permits = new Semaphore(200);
        CountDownLatch submitted = new CountDownLatch(4);
        List<UUID> runs = Stream.generate(UUID::randomUUID).limit(40).toList();
        Map<UUID, Integer> last = new ConcurrentHashMap<>();
        Set<UUID> held = ConcurrentHashMap.newKeySet();
        AtomicInteger taken = new AtomicInteger();
        List<String> wrong = new ArrayList<>();
        List<Thread> committing = IntStream.range(0, 3).mapToObj(_ -> Thread.ofPlatform().start(() -> {
            try {
                for (List<PendingCommand> batch = queue.take(); !batch.isEmpty(); batch = queue.take()) {
                    Map<UUID, Integer> seen = new HashMap<>();
                    for (PendingCommand pending : batch) {
                        UUID run = pending.command.runId();
                        int before = seen.containsKey(run) ? seen.get(run) : last.getOrDefault(run, -1);
                        if (!seen.containsKey(run) && !held.add(run) || number(pending) != before + 1) {
                            synchronized (wrong) {
                                wrong.add(run + ": " + number(pending) + " after " + before);
                            }
                        }
                        seen.put(run, number(pending));
                    }
                    permits.release(batch.size());
                    while (permits.availablePermits() > 0 && submitted.getCount() > 0) {
                        Thread.onSpinWait(); // more commands of these runs arrive meanwhile
                    }
                    last.putAll(seen);
                    held.removeAll(seen.keySet());
                    taken.addAndGet(batch.size());
                    end(batch);
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        })).toList();
        List<Thread> submitting = IntStream.range(0, 4).mapToObj(part -> Thread.ofPlatform().start(() -> {
            for (int i = 0; i < each; i++) {
                permits.acquireUninterruptibly();
                UUID run = runs.get(part * 10 + i % 10);
                queue.add(i % 7 == 0
                        ? new PendingCommand(new Command.FailRun(run, String.valueOf(i / 10), Actor.SYSTEM))
                        : pending(run, i / 10));
            }
            submitted.countDown();
        })).toList();
        for (Thread thread : submitting) {
            thread.join();
        }
        queue.close();
        for (Thread thread : committing) {
            thread.join();
        }
        assertThat(wrong).isEmpty();
        assertThat(taken).hasValue(4 * each);
    }

    private void others(int count) {
        for (int i = 0; i < count; i++) {
            add(UUID.randomUUID(), 0);
        }
    }

    private void onTasks(int count) {
        for (int i = 0; i < count; i++) {
            queue.add(new PendingCommand(new Command.FailRun(UUID.randomUUID(), "0", Actor.SYSTEM)));
        }
    }

    private static boolean onTask(PendingCommand pending) {
        return pending.command instanceof Command.FailRun;
    }

    private void add(UUID run, int... numbers) {
        for (int number : numbers) {
            assertThat(queue.add(pending(run, number))).isTrue();
        }
    }

    private void end(List<PendingCommand> batch) {
        queue.answered(batch);
        queue.release(batch);
    }

    private static PendingCommand pending(UUID run, int number) {
        return new PendingCommand(new Command.Pause(run, String.valueOf(number), Actor.SYSTEM));
    }

    private static PendingCommand signal(int length) {
        return new PendingCommand(new Command.SendSignal(UUID.randomUUID(), UUID.randomUUID(), "go", "x".repeat(length),
                null, Actor.SYSTEM));
    }

    private static List<Integer> numbers(List<PendingCommand> batch) {
        return batch.stream().map(CommandQueueTest::number).toList();
    }

    private static int number(PendingCommand pending) {
        return Integer.parseInt(pending.command instanceof Command.FailRun end
                ? end.reason()
                : ((Command.Pause) pending.command).reason());
    }
}
