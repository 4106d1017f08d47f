package io.keelson.server.engine.tool;

/** Log of one step execution. Bounded by the implementor: lines over its bounds are cut or dropped, never refused. */
@FunctionalInterface
public interface StepLog {

    void line(String text);

    /**
     * Shows the next part of the text that the step will have as its result to readers of the live text. Does not
     * block.
     */
    default void answer(String part) {}
}
