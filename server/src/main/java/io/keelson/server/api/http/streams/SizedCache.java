package io.keelson.server.api.http.streams;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Values that grow after their insertion, up to a number of values and of bytes; the least recently used ones are evicted. Their users
 * keep evicted values. Thread-safe.
 */
final class SizedCache<K, V> {

    private static final class Entry<V> {
        private final V value;
        private long bytes;

        private Entry(V value) {
            this.value = value;
        }
    }

    private final Map<K, Entry<V>> entries = new LinkedHashMap<>(16, 0.75f, true);
    private final int mostEntries;
    private final long mostBytes;
    private long bytes;

    SizedCache(int mostEntries, long mostBytes) {
        this.mostEntries = mostEntries;
        this.mostBytes = mostBytes;
    }

    synchronized V get(K key, Supplier<V> absent) {
        return entries.computeIfAbsent(key, missing -> new Entry<>(absent.get())).value;
    }

    /** Counts bytes that the value has grown by, unless it was evicted meanwhile, and evicts what exceeds the limits. */
    synchronized void grow(K key, V value, long by) {
        Entry<V> entry = entries.get(key);
        if (entry != null && entry.value == value) {
            entry.bytes += by;
            bytes += by;
        }
        for (Iterator<Entry<V>> eldest =
                entries.values().iterator(); (bytes > mostBytes || entries.size() > mostEntries)
                        && eldest.hasNext();) {
            bytes -= eldest.next().bytes;
            eldest.remove();
        }
    }

    synchronized void clear() {
        entries.clear();
        bytes = 0;
    }

    synchronized long bytes() {
        return bytes;
    }
}
