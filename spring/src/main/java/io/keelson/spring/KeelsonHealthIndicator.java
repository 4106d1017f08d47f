package io.keelson.spring;

import io.keelson.api.tenant.WhoAmI;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.worker.Worker;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** Down if the server does not answer, refuses the key, or does not give steps to the worker. */
final class KeelsonHealthIndicator extends AbstractHealthIndicator {
    private final Keelson client;
    private final @Nullable KeelsonWorker worker;

    KeelsonHealthIndicator(Keelson client, @Nullable KeelsonWorker worker) {
        super("the Keelson server was not asked");
        this.client = client;
        this.worker = worker;
    }

    @Override
    protected void doHealthCheck(Health.Builder health) {
        health.withDetail("url", client.url().toString());
        try {
            WhoAmI answer = client.whoAmI();
            health.up().withDetail("version", answer.version()).withDetail("workspace", answer.workspace().name());
        } catch (KeelsonException e) {
            down(health, e);
            return;
        }
        Worker running = worker == null ? null : worker.worker();
        if (running != null) {
            health.withDetail("worker", running.id());
            KeelsonException problem = running.problem();
            if (problem != null) {
                down(health, problem);
            }
        }
    }

    private static void down(Health.Builder health, KeelsonException problem) {
        health.down().withDetail("code", problem.code()).withDetail("problem", String.valueOf(problem.getMessage()));
    }
}
