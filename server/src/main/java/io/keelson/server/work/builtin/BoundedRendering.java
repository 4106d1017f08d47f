package io.keelson.server.work.builtin;

import com.samskivert.mustache.BasicCollector;
import com.samskivert.mustache.Mustache;
import java.io.StringWriter;
import java.io.Writer;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Bounds on one rendering: how long the text gets, how many list items it passes, and the thread's interrupt. */
final class BoundedRendering {

    private static final int MAX_ITEMS = 5_000_000;

    private final int maxChars;
    private int items;

    /** A bound was passed, or the thread interrupted. */
    static final class Ended extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Ended(String message) {
            super(message);
        }
    }

    BoundedRendering(int maxChars) {
        this.maxChars = maxChars;
    }

    private void look() {
        if (++items > MAX_ITEMS) {
            throw new Ended("the template passes more than " + MAX_ITEMS + " items");
        }
        if (Thread.currentThread().isInterrupted()) {
            throw new Ended("interrupted");
        }
    }

    /** Knows maps and lists only: the library's default would call methods of any object. */
    Mustache.Collector collector() {
        return new BasicCollector() {
            @Override
            public <K, V> Map<K, V> createFetcherCache() {
                return new HashMap<>();
            }

            @Override
            public @Nullable Iterator<?> toIterator(Object value) {
                Iterator<?> iterator = super.toIterator(value);
                return iterator == null ? null : looking(iterator);
            }
        };
    }

    private Iterator<?> looking(Iterator<?> iterator) {
        return new Iterator<Object>() {
            @Override
            public boolean hasNext() {
                return iterator.hasNext();
            }

            @Override
            public Object next() {
                look();
                return iterator.next();
            }
        };
    }

    Writer writer() {
        return new StringWriter() {
            @Override
            public void write(int c) {
                super.write(c);
                check();
            }

            @Override
            public void write(String text) {
                super.write(text);
                check();
            }

            @Override
            public void write(String text, int offset, int length) {
                super.write(text, offset, length);
                check();
            }

            @Override
            public void write(char[] chars, int offset, int length) {
                super.write(chars, offset, length);
                check();
            }

            private void check() {
                if (getBuffer().length() > maxChars) {
                    throw new Ended("the text is longer than " + maxChars + " characters");
                }
            }
        };
    }
}
