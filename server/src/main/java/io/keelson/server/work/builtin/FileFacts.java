package io.keelson.server.work.builtin;

import org.jspecify.annotations.Nullable;

/**
 * A regular file as it was found.
 *
 * @param lines newline characters in it, as {@code wc -l}
 * @param binary whether there is a NUL among its first 8,000 bytes, as git looks at it
 */
record FileFacts(String path, long size, @Nullable String language, long lines, boolean binary) {}
