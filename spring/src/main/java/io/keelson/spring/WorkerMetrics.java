package io.keelson.spring;

import io.keelson.client.worker.Continue;
import io.keelson.client.worker.StepDeferral;
import io.keelson.client.worker.StepFailure;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

/** Measures executions of steps with Micrometer. */
final class WorkerMetrics implements KeelsonWorker.Observer {
    private final MeterRegistry registry;
    private final AtomicInteger active = new AtomicInteger();

    WorkerMetrics(MeterRegistry registry, int slots) {
        this.registry = registry;
        Gauge.builder("keelson.worker.active", active, AtomicInteger::get).description("Steps that are being executed")
                .register(registry);
        Gauge.builder("keelson.worker.slots", () -> slots)
                .description("Steps that the worker executes at most at a time")
                .register(registry);
    }

    @Override
    public <T> T observe(String tool, Callable<T> work) throws Exception {
        active.incrementAndGet();
        Timer.Sample begun = Timer.start(registry);
        String outcome = "error";
        try {
            T result = work.call();
            outcome = result instanceof Continue ? "continued" : "completed";
            return result;
        } catch (StepFailure e) {
            outcome = "failed";
            throw e;
        } catch (StepDeferral e) {
            outcome = "deferred";
            throw e;
        } finally {
            active.decrementAndGet();
            begun.stop(Timer.builder("keelson.worker.steps").description("Executions of steps").tag("tool", tool)
                    .tag("outcome", outcome).register(registry));
        }
    }
}
