package io.keelson.spring;

import io.keelson.client.worker.Worker;

/** A bean that changes the worker before it is created, such as to add a tool without a method. */
@FunctionalInterface
public interface KeelsonWorkerCustomizer {

    /** Changes the settings of the worker. */
    void customize(Worker.Builder worker);
}
