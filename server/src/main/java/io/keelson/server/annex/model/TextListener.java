package io.keelson.server.annex.model;

/** Receives the text of an answer while it arrives. Called by one thread at a time; must not block. */
@FunctionalInterface
public interface TextListener {

    /** Ignores all text. */
    TextListener NONE = text -> {};

    /** @param text the next part, not empty */
    void text(String text);
}
