package io.keelson.server.annex.model.call;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import java.time.Duration;
import java.util.function.Predicate;

/**
 * A condition that is read from the database. It counts as true for a second after it was; that it is false is never remembered.
 * Thread-safe.
 */
final class RecentlyTrue<K> implements Predicate<K> {
    private static final Duration OLDEST = Duration.ofSeconds(1);
    private static final int MAX = 10_000;

    private final Predicate<K> condition;
    private final Cache<K, Boolean> recent;

    RecentlyTrue(Predicate<K> condition, Ticker ticker) {
        this.condition = condition;
        this.recent = Caffeine.newBuilder().expireAfterWrite(OLDEST).maximumSize(MAX).ticker(ticker)
                .executor(Runnable::run).build();
    }

    @Override
    public boolean test(K key) {
        if (recent.getIfPresent(key) != null) {
            return true;
        }
        boolean now = condition.test(key);
        if (now) {
            recent.put(key, true);
        }
        return now;
    }
}
