package io.keelson.server.engine.tool;

import java.io.InputStream;

/**
 * Redacts the secrets of a call's input. A tool that truncates its output redacts first; otherwise the beginning of a
 * secret would be left.
 */
public interface Redactor {

    /** For inputs without secrets. */
    Redactor NONE = new Redactor() {
        @Override
        public boolean none() {
            return true;
        }

        @Override
        public String text(String text) {
            return text;
        }

        @Override
        public InputStream stream(InputStream content) {
            return content;
        }
    };

    /** True when the input has no secrets. */
    boolean none();

    String text(String text);

    InputStream stream(InputStream content);
}
