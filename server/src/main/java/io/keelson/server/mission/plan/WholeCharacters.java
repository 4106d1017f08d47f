package io.keelson.server.mission.plan;

import java.io.Reader;

/** Text in pieces that never end within a surrogate pair: at the end of its buffer the YAML parser breaks on one. */
final class WholeCharacters extends Reader {

    private final String text;
    private int at;

    WholeCharacters(String text) {
        this.text = text;
    }

    @Override
    public int read(char[] buffer, int offset, int length) {
        if (at == text.length()) {
            return -1;
        }
        int end = Math.min(text.length(), at + length);
        if (end - at > 1 && end < text.length() && Character.isHighSurrogate(text.charAt(end - 1))) {
            end--;
        }
        text.getChars(at, end, buffer, offset);
        int count = end - at;
        at = end;
        return count;
    }

    @Override
    public void close() {
        at = text.length();
    }
}
