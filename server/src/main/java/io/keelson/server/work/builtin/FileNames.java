package io.keelson.server.work.builtin;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * File names as UTF-8 in any locale. Under the C locale the JDK decodes names as ASCII and refuses
 * to make a path from other text; only its URIs keep the bytes as they are on disk.
 */
final class FileNames {

    private FileNames() {}

    /** The last name of a path, bytes that are not UTF-8 as U+FFFD. */
    static String last(Path path) {
        String name = path.getFileName().toString();
        if (name.indexOf('\uFFFD') < 0) {
            return name;
        }
        return new String(bytes(path), StandardCharsets.UTF_8);
    }

    /** Whether the last name is UTF-8: a path is made of its text only then. */
    static boolean isUtf8(Path path) {
        String name = last(path);
        return name.indexOf('\uFFFD') < 0 || Arrays.equals(bytes(path), name.getBytes(StandardCharsets.UTF_8));
    }

    /** The last name as it is on disk. */
    private static byte[] bytes(Path path) {
        String raw = path.toUri().getRawPath();
        String trimmed = raw.endsWith("/") ? raw.substring(0, raw.length() - 1) : raw;
        return unescape(trimmed.substring(trimmed.lastIndexOf('/') + 1));
    }

    /** {@code base.resolve(text)}; {@link java.nio.file.InvalidPathException} if the text is not a path. */
    static Path resolve(Path base, String text) {
        if (text.chars().allMatch(c -> c > 0 && c < 0x80)) {
            return base.resolve(text);
        }
        if (text.indexOf('\0') >= 0) {
            throw new InvalidPathException(text.replace('\0', '?'), "a path has no NUL");
        }
        String prefix = text.startsWith("/") ? "" : base.toUri().getRawPath().replaceFirst("/?$", "/");
        return Path.of(URI.create("file://" + (prefix + escape(text)).replaceAll("(?<=.)/+$", "")));
    }

    private static String escape(String text) {
        StringBuilder escaped = new StringBuilder();
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            boolean plain = b == '/' || b == '.' || b == '-' || b == '_' || b > 0 && Character.isLetterOrDigit(b);
            escaped.append(plain ? String.valueOf((char) b) : "%%%02X".formatted(b & 0xff));
        }
        return escaped.toString();
    }

    private static byte[] unescape(String raw) {
        byte[] bytes = new byte[raw.length()];
        int length = 0;
        for (int i = 0; i < raw.length(); i++) {
            char c = raw.charAt(i);
            if (c == '%') {
                bytes[length++] = (byte) Integer.parseInt(raw, i + 1, i + 3, 16);
                i += 2;
            } else {
                bytes[length++] = (byte) c;
            }
        }
        return Arrays.copyOf(bytes, length);
    }
}
