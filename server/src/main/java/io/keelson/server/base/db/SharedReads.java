package io.keelson.server.base.db;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Answers the questions of several threads with one query, which costs the database little more than the query of one. A thread that
 * comes during a query waits for the next one, which answers all that wait. A query begins after its questions, so it sees commits
 * before them. Thread-safe.
 *
 * @param <Q> a question
 * @param <A> its answer
 */
public final class SharedReads<Q, A> {
    private final int most;
    private final Function<List<Q>, List<A>> query;
    private final ReentrantLock reading = new ReentrantLock();
    private final Queue<Asked<Q, A>> waiting = new ConcurrentLinkedQueue<>();

    private static final class Asked<Q, A> {
        private final Q question;
        private @Nullable A answer;

        private Asked(Q question) {
            this.question = question;
        }
    }

    /**
     * @param most maximum number of questions of a query
     * @param query gives an answer for each question, in their order
     */
    public SharedReads(int most, Function<List<Q>, List<A>> query) {
        this.most = most;
        this.query = query;
    }

    /** The answer. A query that fails, fails the thread that has made it; the others make one of their own. */
    public A read(Q question) {
        Asked<Q, A> mine = new Asked<>(question);
        waiting.add(mine);
        reading.lock();
        try {
            A known = mine.answer;
            return known == null ? readWith(mine) : known;
        } finally {
            reading.unlock();
        }
    }

    private A readWith(Asked<Q, A> mine) {
        List<Asked<Q, A>> together = new ArrayList<>();
        together.add(mine);
        waiting.remove(mine);
        while (together.size() < most && !waiting.isEmpty()) {
            together.add(waiting.remove());
        }
        List<A> answers = query.apply(together.stream().map(each -> each.question).toList());
        for (int i = 0; i < answers.size(); i++) {
            together.get(i).answer = answers.get(i);
        }
        return answers.getFirst();
    }
}
