package io.keelson.server.expr;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** Remembers the results of a function for the keys asked for most recently. Failures are not remembered. */
final class RecentCache<K, V> {

    private final Function<K, V> function;
    private final Map<K, V> recent;

    RecentCache(int capacity, Function<K, V> function) {
        this.function = function;
        this.recent = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
                return size() > capacity;
            }
        };
    }

    V get(K key) {
        synchronized (recent) {
            V known = recent.get(key);
            if (known != null) {
                return known;
            }
        }
        V computed = function.apply(key);
        synchronized (recent) {
            recent.put(key, computed);
        }
        return computed;
    }
}
