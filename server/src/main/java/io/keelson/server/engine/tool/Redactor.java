package io.keelson.server.engine.tool;

import java.io.InputStream;

/** Strikes the secrets of a call's input out. A tool that cuts what it gives does it before, or a head would be left. */
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
