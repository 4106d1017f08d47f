package io.keelson.server.tool;

/** Log of one step execution. Bounded by the implementor: lines over its bounds are cut or dropped, never refused. */
@FunctionalInterface
public interface StepLog {

    void line(String text);
}
